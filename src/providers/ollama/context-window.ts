// Resolves the context window of an Ollama model. Ollama truncates a conversation silently to its default of 4,096 tokens, so the window is always set.
import { trimEndChars } from '../../core/index.ts';
import { asObject, asObjectArray } from '../../wire/index.ts';
import { parseOllamaWindows, positiveInteger } from '../../wire/ollama/index.ts';
import type { ProviderInfo } from '../http/errors.ts';
import { getJson, postJson, redactUrl } from '../http/http.ts';

/** Options of the requests to Ollama. */
export type OllamaWindowOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly providerInfo?: ProviderInfo;
};

/** Enough for an agent, and fits the memory of most machines. */
const defaultContextWindow = 32_768;

/**
 * Returns the tokens to set as `num_ctx`, at most the maximum of the model: the requested window; else the window of the
 * model file; else the window with which the model is loaded now, if it is larger than the default; else the default.
 */
export async function resolveOllamaContextWindow(
  baseUrl: string,
  model: string,
  requested?: number,
  options: OllamaWindowOptions = {},
): Promise<number> {
  const providerInfo = options.providerInfo ?? { name: 'ollama', model, url: redactUrl(baseUrl) };
  const request = { signal: new AbortController().signal, ...options, providerInfo };
  const root = ollamaBaseUrl(baseUrl);
  const [shown, running] = await Promise.all([
    postJson({ ...request, url: `${root}/api/show` }, { model }),
    requested === undefined ? getJson({ ...request, url: `${root}/api/ps` }).catch(() => undefined) : undefined,
  ]);
  const { max, configured, isRemote } = parseOllamaWindows(shown);
  // A remote model uses no memory here, and its window cannot be set.
  if (isRemote && max !== undefined) return Math.min(requested ?? max, max);
  const window = requested ?? configured ?? Math.max(defaultContextWindow, loadedContextWindow(running, model));
  return max === undefined ? window : Math.min(window, max);
}

/** Returns the address of Ollama without the path of an API. */
export const ollamaBaseUrl = (baseUrl: string): string => trimEndChars(baseUrl, '/').replace(/\/(v1|api)$/, '');

function loadedContextWindow(running: unknown, model: string): number {
  const fullName = model.includes(':') ? model : `${model}:latest`;
  const loaded = asObjectArray(asObject(running)['models']).find(
    (each) => each['name'] === fullName || each['model'] === fullName,
  );
  return positiveInteger(loaded?.['context_length']) ?? 0;
}
