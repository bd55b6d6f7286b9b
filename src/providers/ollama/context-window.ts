// Ollama's effective context window. Left alone it may cut a conversation to 4,096 tokens without a word; so the window is found and set.
import { isObject } from '../../core/index.ts';
import { getJson, redactUrl, postJson } from '../http/http.ts';
import type { ProviderInfo } from '../http/errors.ts';

/** What a window is asked with, beside the address. */
export type OllamaWindowOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly providerInfo?: ProviderInfo;
};

/** Taken where nobody asked for more or less: room for an agent at work, and memory that most machines have. */
const defaultContextWindow = 32_768;

/**
 * The tokens to set as `num_ctx`, never more than the model was made for: the wish; else what the model's own file sets; else
 * what the model is loaded with now, if that is more than the usual 32,768; else those.
 */
export async function resolveOllamaContextWindow(
  baseUrl: string,
  model: string,
  wish?: number,
  options: OllamaWindowOptions = {},
): Promise<number> {
  const who = options.providerInfo ?? { name: 'ollama', model, url: redactUrl(baseUrl) };
  const ask = { signal: new AbortController().signal, ...options, providerInfo: who };
  const root = ollamaBaseUrl(baseUrl);
  const [shown, running] = await Promise.all([
    postJson({ ...ask, url: `${root}/api/show` }, { model }),
    wish === undefined ? getJson({ ...ask, url: `${root}/api/ps` }).catch(() => undefined) : undefined,
  ]);
  const { max, configured, remote } = parseWindowInfo(shown);
  // A model that runs elsewhere takes no memory here, and its window cannot be set.
  if (remote && max !== undefined) return Math.min(wish ?? max, max);
  const wanted = wish ?? configured ?? Math.max(defaultContextWindow, loadedContextWindow(running, model));
  return max === undefined ? wanted : Math.min(wanted, max);
}

/** Ollama's address without the paths of its two APIs. */
export const ollamaBaseUrl = (baseUrl: string): string => baseUrl.replace(/\/+$/, '').replace(/\/(v1|api)$/, '');

type OllamaWindowInfo = {
  readonly max: number | undefined;
  readonly configured: number | undefined;
  readonly remote: boolean;
};

function parseWindowInfo(shown: unknown): OllamaWindowInfo {
  if (!isObject(shown)) return { max: undefined, configured: undefined, remote: false };
  const info = isObject(shown['model_info']) ? shown['model_info'] : {};
  const name = Object.keys(info).find((key) => key.endsWith('.context_length'));
  const { parameters } = shown;
  const set = typeof parameters === 'string' ? /^\s*num_ctx\s+"?(\d+)/m.exec(parameters)?.[1] : undefined;
  return {
    max: positiveInteger(name === undefined ? undefined : info[name]),
    configured: positiveInteger(Number(set)),
    remote: typeof shown['remote_host'] === 'string' && shown['remote_host'] !== '',
  };
}

function loadedContextWindow(running: unknown, model: string): number {
  const models = isObject(running) && Array.isArray(running['models']) ? (running['models'] as unknown[]) : [];
  const full = model.includes(':') ? model : `${model}:latest`;
  const found = models.find((each) => isObject(each) && (each['name'] === full || each['model'] === full));
  return (isObject(found) ? positiveInteger(found['context_length']) : undefined) ?? 0;
}

const positiveInteger = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
