// Provider for the Google Gemini API, through the package of the AI SDK.
import { createGoogle } from '@ai-sdk/google';
import type { JSONValue } from '@ai-sdk/provider';
import { isObject, type Provider, type ModelRequest } from '../../core/index.ts';
import { createAiSdkProvider, type AiSdkOptions } from './provider.ts';
import { toObjectSchema, toGeminiSchema } from '../http/schema.ts';
import { asObject, asObjectArray, mergeCounts, stringOrUndefined, type WireObject } from '../../wire/index.ts';
import { findGoogleFinish, parseGoogleUsage } from '../../wire/google/index.ts';
import type { ResponseMeta, StreamNormalizer } from './fetch-normalizer.ts';

/** The options of a Gemini provider. */
export type GoogleOptions = AiSdkOptions;

/** Creates a provider for a Gemini model, at the Gemini API or a compatible server. */
export function googleProvider(callerOptions: GoogleOptions): Provider {
  const options = { baseUrl: 'https://generativelanguage.googleapis.com/v1beta', ...callerOptions };
  const { model } = options;
  return createAiSdkProvider(
    {
      profile: {
        family: options.family ?? 'google',
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

/** Parses the responses of `generateContent`: an object, an array or events, each in the same format. */
const googleNormalizer: StreamNormalizer = {
  createReader: createContentReader,
  toEvents: (body) => (Array.isArray(body) ? asObjectArray(body) : [asObject(body)]),
};

function createContentReader(account: ResponseMeta): (event: WireObject) => readonly WireObject[] {
  let counts: WireObject = {};
  return (event) => {
    if (event['error']) {
      account.error = event;
      return [];
    }
    account.model = stringOrUndefined(event['modelVersion']) ?? account.model;
    counts = mergeCounts(counts, asObject(event['usageMetadata']));
    account.usage = parseGoogleUsage(counts);
    const end = findGoogleFinish(event);
    if (end) {
      account.rawFinish = end.raw;
      account.finish = end.finish;
      account.ended = true;
      if (end.isBlocked) return [];
    }
    const content = asObject(asObjectArray(event['candidates'])[0]?.['content']);
    const parts = asObjectArray(content['parts']).flatMap(toSdkParts);
    return parts.length === 0 ? [] : [{ candidates: [{ content: { parts } }] }];
  };
}

/** Returns the supported parts. Server-side tool calls and their results are ignored. */
function toSdkParts(part: WireObject): readonly WireObject[] {
  const { functionCall, inlineData, thought, thoughtSignature } = part;
  const signature = stringOrUndefined(thoughtSignature) ?? '';
  const signed = signature === '' ? {} : { thoughtSignature: signature };
  const metadata = { ...(thought === true ? { thought } : {}), ...signed };
  if (isFunctionCall(functionCall)) return [{ functionCall, ...signed }];
  const { mimeType, data } = asObject(inlineData);
  if (typeof mimeType === 'string' && typeof data === 'string')
    return [{ inlineData: { mimeType, data }, ...metadata }];
  const text = stringOrUndefined(part['text']);
  const bare = Object.keys(part).every((key) => /^thought(Signature)?$/.test(key));
  return text !== undefined || (bare && signature !== '') ? [{ text: text ?? '', ...metadata }] : [];
}

/** Parses a call or a chunk of one: first the name, then chunks of the arguments, without an end marker. */
function isFunctionCall(call: unknown): call is WireObject {
  if (!isObject(call)) return false;
  const { name, partialArgs } = call;
  return typeof name === 'string' || Array.isArray(partialArgs) || Object.keys(call).length === 0;
}
