// Adapts a provider package of the AI SDK to the Provider interface.
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { FairleadError, type Price, type Provider } from '../../core/index.ts';
import {
  sanitizeErrorText,
  truncatedResponseError,
  malformedResponseError,
  withUsage,
  type ProviderInfo,
} from '../http/errors.ts';
import { abortError, redactUrl } from '../http/http.ts';
import { createStreamAdapter, type MetadataFilter } from './stream-adapter.ts';
import { createPromptConverter, type ProviderProfile } from './to-prompt.ts';
import { createNormalizingFetch, createResponseMeta, type StreamNormalizer } from './fetch-normalizer.ts';

/** The model, URL and key of a provider. */
export type AiSdkOptions = {
  readonly model: string;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly price?: Price;
  readonly fetch?: typeof globalThis.fetch;
  /** The name of the provider for users: the key of its metadata, and its name in errors. */
  readonly family?: string;
  /** The environment variable of the key, for error messages. */
  readonly keyVariable?: string;
};

/** The definition of a provider family on an SDK package. */
export type AiSdkFamily = {
  readonly profile: ProviderProfile;
  readonly normalizer: StreamNormalizer;
  readonly keepMetadata: MetadataFilter;
  /** Creates the SDK model with this `fetch`. */
  createModel(fetch: typeof globalThis.fetch): LanguageModelV4;
};

/** Creates a provider on an SDK package. It never retries and never follows a redirect; one stream is one request. */
export function createAiSdkProvider(
  family: AiSdkFamily,
  options: AiSdkOptions & { readonly baseUrl: string },
): Provider {
  const { model, price } = options;
  const providerInfo = createProviderInfo(options, family.profile.family);
  const ask = createPromptConverter(family.profile);
  return {
    family: family.profile.family,
    model,
    ...(price ? { price } : {}),
    async *stream(request, signal) {
      if (signal.aborted) throw abortError(signal);
      assertSendableHeaders(options, providerInfo);
      const account = createResponseMeta();
      const stop = new AbortController();
      const onAbort = (): void => stop.abort(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      const adapter = createStreamAdapter(family.profile, family.keepMetadata, providerInfo);
      try {
        const sdk = family.createModel(
          createNormalizingFetch(family.normalizer, account, providerInfo, {
            fetch: options.fetch,
            streamed: request.settings.stream !== false,
            trace: request.trace,
          }),
        );
        const { stream } = await sdk.doStream(ask(request, stop.signal));
        for await (const part of stream as AsyncIterable<LanguageModelV4StreamPart>) {
          adapter.push(part);
          yield* adapter.takeChunks();
        }
      } catch (error) {
        if (signal.aborted) throw abortError(signal);
        throw withUsage(account.failure ?? toProviderError(error, providerInfo), account);
      } finally {
        signal.removeEventListener('abort', onAbort);
        stop.abort();
      }
      if (signal.aborted) throw abortError(signal);
      if (account.failure) throw withUsage(account.failure, account);
      if (!account.ended) throw withUsage(truncatedResponseError(providerInfo), account);
      yield* adapter.end(account, model);
    },
  };
}

function createProviderInfo(options: AiSdkOptions & { readonly baseUrl: string }, family: string): ProviderInfo {
  const { apiKey, headers, keyVariable, model } = options;
  return {
    name: options.family ?? family,
    model,
    url: redactUrl(options.baseUrl),
    ...(keyVariable === undefined ? {} : { keyVariable }),
    secrets: [apiKey ?? '', ...Object.values(headers ?? {}), URL.parse(options.baseUrl)?.password ?? ''],
  };
}

/** Rejects an invalid key early, because the platform error for a bad header contains its value. */
function assertSendableHeaders({ apiKey, headers }: AiSdkOptions, providerInfo: ProviderInfo): void {
  const bad = [apiKey ?? '', ...Object.values(headers ?? {})].some((value) => /[^\t\x20-\x7e\x80-\xff]/.test(value));
  if (bad)
    throw new FairleadError(
      'provider/unauthorized',
      `The key or a header for ${providerInfo.name} holds characters that cannot be sent.`,
      {
        blame: 'user',
        hint: 'Copy the key again: a line break or a quotation mark may have come along.',
      },
    );
}

/** Converts an error of the SDK. Its message can contain anything, so it is redacted and truncated. */
function toProviderError(error: unknown, providerInfo: ProviderInfo): FairleadError {
  if (error instanceof FairleadError) return error;
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  const reason = sanitizeErrorText(message, providerInfo, 300);
  if (/Unsupported|InvalidPrompt|InvalidArgument|NoSuchModel|LoadAPIKey|LoadSetting/.test(name))
    return new FairleadError('provider/unsupported', `${providerInfo.name} does not support this request: ${reason}`, {
      blame: 'user',
      hint: 'Check the files, tools and settings against what this model supports.',
    });
  return malformedResponseError('something that cannot be read', reason, providerInfo, true);
}
