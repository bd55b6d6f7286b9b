// Google's Gemini API, through the AI SDK's package for it.
import { createGoogle } from '@ai-sdk/google';
import type { JSONValue } from '@ai-sdk/provider';
import { isObject, type FinishReason, type Provider, type ModelRequest } from '../../core/index.ts';
import { sdkProvider, type SdkOptions } from './sdk.ts';
import { objectSchema, plainSchema } from '../wire/schema.ts';
import { countOf, textFrom, usageOf, wireOf, wiresOf, type Account, type Dialect, type Wire } from './wire.ts';

/** How Gemini is reached. */
export type GoogleOptions = SdkOptions;

/** A Gemini model, at the Gemini API or at any server that speaks the same. */
export function googleProvider(given: GoogleOptions): Provider {
  const options = { baseUrl: 'https://generativelanguage.googleapis.com/v1beta', ...given };
  const { model } = options;
  return sdkProvider(
    {
      accent: {
        family: given.family ?? 'google',
        key: 'google',
        schema: (input) => plainSchema(objectSchema(input)),
        options: ({ settings }: ModelRequest): Record<string, JSONValue | undefined> => ({
          thinkingConfig:
            settings.reasoning === undefined || settings.reasoning === 'none' ? undefined : { includeThoughts: true },
        }),
        ownFiles: true,
      },
      dialect: contentDialect,
      open: (fetch) =>
        createGoogle({
          apiKey: options.apiKey ?? '',
          baseURL: options.baseUrl,
          headers: { ...options.headers },
          fetch,
        })(model),
      keep: (_kind, { thoughtSignature }) => (thoughtSignature === undefined ? undefined : { thoughtSignature }),
    },
    options,
  );
}

/** Words for answers that were held back; `MALFORMED_FUNCTION_CALL` and other failures of the model itself are not among them. */
const withheld =
  /^(SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|MODEL_ARMOR|IMAGE_(SAFETY|PROHIBITED_CONTENT|RECITATION))$/;

function finishFor(reason: string): FinishReason {
  if (reason === 'STOP') return 'stop';
  if (reason === 'MAX_TOKENS' || reason === 'CONTINUATION') return 'length';
  return withheld.test(reason) ? 'filtered' : 'other';
}

/** The replies of `generateContent`: whole, as a list, or as events, each reply has the same shape. */
const contentDialect: Dialect = {
  reader: contentReader,
  unfold: (body) => (Array.isArray(body) ? wiresOf(body) : [wireOf(body)]),
};

function contentReader(account: Account): (event: Wire) => readonly Wire[] {
  let counts: Wire = {};
  return (event) => {
    if (event['error']) {
      account.error = event;
      return [];
    }
    account.model = textFrom(event['modelVersion']) ?? account.model;
    counts = { ...counts, ...wireOf(event['usageMetadata']) };
    account.usage = usageFrom(counts);
    const blocked = textFrom(wireOf(event['promptFeedback'])['blockReason']);
    if (blocked !== undefined && !blocked.endsWith('UNSPECIFIED')) {
      account.rawFinish = blocked;
      account.finish = 'filtered';
      account.ended = true;
      return [];
    }
    const candidate = wiresOf(event['candidates'])[0];
    if (!candidate) return [];
    const reason = textFrom(candidate['finishReason']);
    if (reason !== undefined) {
      account.rawFinish = reason;
      account.finish = finishFor(reason);
      account.ended = true;
    }
    const parts = wiresOf(wireOf(candidate['content'])['parts']).flatMap(ours);
    return parts.length === 0 ? [] : [{ candidates: [{ content: { parts } }] }];
  };
}

/** The parts that are ours to read. What the server ran itself, and what belongs to it, is passed over. */
function ours(part: Wire): readonly Wire[] {
  const { functionCall, inlineData, thought, thoughtSignature } = part;
  const signature = textFrom(thoughtSignature) ?? '';
  const signed = signature === '' ? {} : { thoughtSignature: signature };
  const marks = { ...(thought === true ? { thought } : {}), ...signed };
  if (isCall(functionCall)) return [{ functionCall, ...signed }];
  const { mimeType, data } = wireOf(inlineData);
  if (typeof mimeType === 'string' && typeof data === 'string') return [{ inlineData: { mimeType, data }, ...marks }];
  const text = textFrom(part['text']);
  const bare = Object.keys(part).every((key) => /^thought(Signature)?$/.test(key));
  return text !== undefined || (bare && signature !== '') ? [{ text: text ?? '', ...marks }] : [];
}

/** A call, or a piece of one: its name comes first, then arguments in pieces, then nothing to say that it is whole. */
function isCall(call: unknown): call is Wire {
  if (!isObject(call)) return false;
  const { name, partialArgs } = call;
  return typeof name === 'string' || Array.isArray(partialArgs) || Object.keys(call).length === 0;
}

/** What a tool of the server read on our behalf is input; thinking is output. */
function usageFrom(counts: Wire): Account['usage'] {
  const prompt = countOf(counts['promptTokenCount']);
  const input = prompt === undefined ? undefined : prompt + (countOf(counts['toolUsePromptTokenCount']) ?? 0);
  const reasoning = countOf(counts['thoughtsTokenCount']);
  const spoken = countOf(counts['candidatesTokenCount']);
  const total = countOf(counts['totalTokenCount']);
  return usageOf({
    input,
    output: spoken !== undefined || reasoning !== undefined ? (spoken ?? 0) + (reasoning ?? 0) : rest(total, input),
    cacheRead: countOf(counts['cachedContentTokenCount']),
    cacheWrite: undefined,
    reasoning,
  });
}

/** Counts of zero are left out on this wire: an answer of no tokens is the total less the input. */
const rest = (total: number | undefined, input: number | undefined): number | undefined =>
  total === undefined || input === undefined ? undefined : Math.max(0, total - input);
