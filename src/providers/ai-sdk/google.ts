// Google's Gemini API, through the AI SDK's package for it.
import { createGoogle } from '@ai-sdk/google';
import type { JSONValue } from '@ai-sdk/provider';
import { isObject, type FinishReason, type Provider, type ModelRequest } from '../../core/index.ts';
import { createAiSdkProvider, type AiSdkOptions } from './provider.ts';
import { toObjectSchema, toGeminiSchema } from '../http/schema.ts';
import {
  numberOrUndefined,
  stringOrUndefined,
  omitUnknownCounts,
  objectOrEmpty,
  toObjectList,
  type ResponseMeta,
  type StreamNormalizer,
  type WireObject,
} from './fetch-normalizer.ts';

/** How Gemini is reached. */
export type GoogleOptions = AiSdkOptions;

/** A Gemini model, at the Gemini API or at any server that speaks the same. */
export function googleProvider(given: GoogleOptions): Provider {
  const options = { baseUrl: 'https://generativelanguage.googleapis.com/v1beta', ...given };
  const { model } = options;
  return createAiSdkProvider(
    {
      profile: {
        family: given.family ?? 'google',
        optionsKey: 'google',
        toolSchema: (input) => toGeminiSchema(toObjectSchema(input)),
        requestOptions: ({ settings }: ModelRequest): Record<string, JSONValue | undefined> => ({
          thinkingConfig:
            settings.reasoning === undefined || settings.reasoning === 'none' ? undefined : { includeThoughts: true },
        }),
        acceptsOwnFiles: true,
      },
      normalizer: googleNormalizer,
      createModel: (fetch) =>
        createGoogle({
          apiKey: options.apiKey ?? '',
          baseURL: options.baseUrl,
          headers: { ...options.headers },
          fetch,
        })(model),
      keepMetadata: (_kind, { thoughtSignature }) =>
        thoughtSignature === undefined ? undefined : { thoughtSignature },
    },
    options,
  );
}

/** Words for answers that were held back; `MALFORMED_FUNCTION_CALL` and other failures of the model itself are not among them. */
const filteredReasons =
  /^(SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|MODEL_ARMOR|IMAGE_(SAFETY|PROHIBITED_CONTENT|RECITATION))$/;

function parseGoogleFinish(reason: string): FinishReason {
  if (reason === 'STOP') return 'stop';
  if (reason === 'MAX_TOKENS' || reason === 'CONTINUATION') return 'length';
  return filteredReasons.test(reason) ? 'filtered' : 'other';
}

/** The replies of `generateContent`: whole, as a list, or as events, each reply has the same shape. */
const googleNormalizer: StreamNormalizer = {
  createReader: createContentReader,
  toEvents: (body) => (Array.isArray(body) ? toObjectList(body) : [objectOrEmpty(body)]),
};

function createContentReader(account: ResponseMeta): (event: WireObject) => readonly WireObject[] {
  let counts: WireObject = {};
  return (event) => {
    if (event['error']) {
      account.error = event;
      return [];
    }
    account.model = stringOrUndefined(event['modelVersion']) ?? account.model;
    counts = { ...counts, ...objectOrEmpty(event['usageMetadata']) };
    account.usage = parseGoogleUsage(counts);
    const blocked = stringOrUndefined(objectOrEmpty(event['promptFeedback'])['blockReason']);
    if (blocked !== undefined && !blocked.endsWith('UNSPECIFIED')) {
      account.rawFinish = blocked;
      account.finish = 'filtered';
      account.ended = true;
      return [];
    }
    const candidate = toObjectList(event['candidates'])[0];
    if (!candidate) return [];
    const reason = stringOrUndefined(candidate['finishReason']);
    if (reason !== undefined) {
      account.rawFinish = reason;
      account.finish = parseGoogleFinish(reason);
      account.ended = true;
    }
    const parts = toObjectList(objectOrEmpty(candidate['content'])['parts']).flatMap(toSdkParts);
    return parts.length === 0 ? [] : [{ candidates: [{ content: { parts } }] }];
  };
}

/** The parts that are ours to read. What the server ran itself, and what belongs to it, is passed over. */
function toSdkParts(part: WireObject): readonly WireObject[] {
  const { functionCall, inlineData, thought, thoughtSignature } = part;
  const signature = stringOrUndefined(thoughtSignature) ?? '';
  const signed = signature === '' ? {} : { thoughtSignature: signature };
  const marks = { ...(thought === true ? { thought } : {}), ...signed };
  if (isFunctionCall(functionCall)) return [{ functionCall, ...signed }];
  const { mimeType, data } = objectOrEmpty(inlineData);
  if (typeof mimeType === 'string' && typeof data === 'string') return [{ inlineData: { mimeType, data }, ...marks }];
  const text = stringOrUndefined(part['text']);
  const bare = Object.keys(part).every((key) => /^thought(Signature)?$/.test(key));
  return text !== undefined || (bare && signature !== '') ? [{ text: text ?? '', ...marks }] : [];
}

/** A call, or a piece of one: its name comes first, then arguments in pieces, then nothing to say that it is whole. */
function isFunctionCall(call: unknown): call is WireObject {
  if (!isObject(call)) return false;
  const { name, partialArgs } = call;
  return typeof name === 'string' || Array.isArray(partialArgs) || Object.keys(call).length === 0;
}

/** What a tool of the server read on our behalf is input; thinking is output. */
function parseGoogleUsage(counts: WireObject): ResponseMeta['usage'] {
  const prompt = numberOrUndefined(counts['promptTokenCount']);
  const input = prompt === undefined ? undefined : prompt + (numberOrUndefined(counts['toolUsePromptTokenCount']) ?? 0);
  const reasoning = numberOrUndefined(counts['thoughtsTokenCount']);
  const spoken = numberOrUndefined(counts['candidatesTokenCount']);
  const total = numberOrUndefined(counts['totalTokenCount']);
  return omitUnknownCounts({
    input,
    output:
      spoken !== undefined || reasoning !== undefined
        ? (spoken ?? 0) + (reasoning ?? 0)
        : remainingTokens(total, input),
    cacheRead: numberOrUndefined(counts['cachedContentTokenCount']),
    cacheWrite: undefined,
    reasoning,
  });
}

/** Counts of zero are left out on this wire: an answer of no tokens is the total less the input. */
const remainingTokens = (total: number | undefined, input: number | undefined): number | undefined =>
  total === undefined || input === undefined ? undefined : Math.max(0, total - input);
