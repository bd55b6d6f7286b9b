// A model behind one of the AI SDK's provider packages, as a Provider: the loop is ours, the wire is theirs.
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { FairleadError, type Price, type Provider } from '../../core/index.ts';
import { clean, cutFault, malformedFault, type Who } from '../wire/faults.ts';
import { abortFault, placeOf } from '../wire/http.ts';
import { listener, type Keep } from './listener.ts';
import { prompter, type Accent } from './prompt.ts';
import { edge, newAccount, type Dialect } from './wire.ts';

/** Where a model is and how it is reached. */
export type SdkOptions = {
  readonly model: string;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly price?: Price;
  readonly fetch?: typeof globalThis.fetch;
  /** The provider's name as the user knows it: what its metadata is kept under, and what errors call it. */
  readonly family?: string;
  /** The environment variable that holds the key, for errors. */
  readonly keyVariable?: string;
};

/** What makes a family out of an SDK package. */
export type SdkFamily = {
  readonly accent: Accent;
  readonly dialect: Dialect;
  readonly keep: Keep;
  /** The SDK's model over this `fetch`. */
  open(fetch: typeof globalThis.fetch): LanguageModelV4;
};

/** A provider over an SDK package. It never retries and never follows a redirect; one stream is one request. */
export function sdkProvider(family: SdkFamily, options: SdkOptions & { readonly baseUrl: string }): Provider {
  const { model, price } = options;
  const who = whoFor(options, family.accent.family);
  const ask = prompter(family.accent);
  return {
    family: family.accent.family,
    model,
    ...(price ? { price } : {}),
    async *stream(request, signal) {
      if (signal.aborted) throw abortFault(signal);
      checkHeaders(options, who);
      const account = newAccount();
      const stop = new AbortController();
      const quit = (): void => stop.abort(signal.reason);
      signal.addEventListener('abort', quit, { once: true });
      const answer = listener(family.accent, family.keep, who);
      try {
        const sdk = family.open(edge(family.dialect, account, who, options.fetch));
        const { stream } = await sdk.doStream(ask(request, stop.signal));
        for await (const part of stream as AsyncIterable<LanguageModelV4StreamPart>) {
          answer.hear(part);
          yield* answer.take();
        }
      } catch (error) {
        if (signal.aborted) throw abortFault(signal);
        throw account.fault ?? faultOf(error, who);
      } finally {
        signal.removeEventListener('abort', quit);
        stop.abort();
      }
      if (signal.aborted) throw abortFault(signal);
      if (account.fault) throw account.fault;
      if (!account.ended) throw cutFault(who);
      yield* answer.end(account, model);
    },
  };
}

function whoFor(options: SdkOptions & { readonly baseUrl: string }, family: string): Who {
  const { apiKey, headers, keyVariable, model } = options;
  return {
    name: options.family ?? family,
    model,
    url: placeOf(options.baseUrl),
    ...(keyVariable === undefined ? {} : { keyVariable }),
    secrets: [apiKey ?? '', ...Object.values(headers ?? {}), URL.parse(options.baseUrl)?.password ?? ''],
  };
}

/** Refused here, because what the platform says of a bad header repeats its value. */
function checkHeaders({ apiKey, headers }: SdkOptions, who: Who): void {
  const bad = [apiKey ?? '', ...Object.values(headers ?? {})].some((value) => /[^\t\x20-\x7e\x80-\xff]/.test(value));
  if (bad)
    throw new FairleadError(
      'provider/unauthorized',
      `The key or a header for ${who.name} holds characters that cannot be sent.`,
      {
        blame: 'user',
        hint: 'Copy the key again: a line break or a quotation mark may have come along.',
      },
    );
}

/** What the SDK threw before or instead of an answer. Its messages can hold anything, so they are cleaned and bounded. */
function faultOf(error: unknown, who: Who): FairleadError {
  if (error instanceof FairleadError) return error;
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
  const words = clean(message, who, 300);
  if (/Unsupported|InvalidPrompt|InvalidArgument|NoSuchModel|LoadAPIKey|LoadSetting/.test(name))
    return new FairleadError('provider/unsupported', `${who.name} cannot be asked this: ${words}`, {
      blame: 'user',
      hint: 'Check the files, tools and settings against what this model supports.',
    });
  return malformedFault('something that cannot be read', words, who, true);
}
