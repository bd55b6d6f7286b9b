// A model behind one of the AI SDK's provider packages, as a Provider: the loop is ours, the wire is theirs.
import type { LanguageModelV4, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import {
  FairleadError,
  type Chunk,
  type Finish,
  type JsonObject,
  type Message,
  type Meta,
  type Part,
  type Price,
  type Provider,
} from '../core/index.ts';
import { assemble, readInput, type Assembly } from './assemble.ts';
import { clean, cutFault, malformedFault, type Who } from './faults.ts';
import { abortFault, placeOf } from './http.ts';
import { prompter, type Accent } from './sdk-prompt.ts';
import { edge, newAccount, type Account, type Dialect } from './sdk-wire.ts';

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
  /** The SDK's model over this `fetch`. */
  open(fetch: typeof globalThis.fetch): LanguageModelV4;
  /** What of the SDK's metadata is kept with a part, to be handed back. */
  keep(kind: Part['type'], data: JsonObject): JsonObject | undefined;
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
      const answer = listener(family, who);
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

type Listener = {
  hear(part: LanguageModelV4StreamPart): void;
  take(): readonly Chunk[];
  end(account: Account, model: string): readonly Chunk[];
};

type Heard = { readonly id: string; fed: boolean; input: string | undefined };

/** Hears the SDK's parts. A call counts only once the SDK has declared it whole; calls that the server ran itself are not ours. */
function listener(family: SdkFamily, who: Who): Listener {
  const assembly = assemble(who);
  const calls: Heard[] = [];
  let data: JsonObject = {};

  const gather = (metadata: SharedV4ProviderMetadata | undefined): void => {
    data = { ...data, ...known(metadata?.[family.accent.key]) };
  };
  const metaFor = (kind: Part['type']): Meta | undefined => {
    const kept = family.keep(kind, data);
    return kept && Object.keys(kept).length > 0 ? { family: family.accent.family, data: kept } : undefined;
  };
  const begin = (metadata: SharedV4ProviderMetadata | undefined): void => {
    assembly.close();
    data = {};
    gather(metadata);
  };
  const speak = (kind: 'text' | 'reasoning', delta: string, metadata: SharedV4ProviderMetadata | undefined): void => {
    gather(metadata);
    assembly[kind](delta);
  };
  const finish = (kind: 'text' | 'reasoning', metadata: SharedV4ProviderMetadata | undefined): void => {
    gather(metadata);
    assembly[kind]('', metaFor(kind));
    assembly.close();
  };

  function hear(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        return begin(part.providerMetadata);
      case 'text-delta':
        return speak('text', part.delta, part.providerMetadata);
      case 'reasoning-delta':
        return speak('reasoning', part.delta, part.providerMetadata);
      case 'text-end':
        return finish('text', part.providerMetadata);
      case 'reasoning-end':
        return finish('reasoning', part.providerMetadata);
      case 'tool-input-start':
        if (!part.providerExecuted) open(part.id, part.toolName);
        return;
      case 'tool-input-delta':
        return feed(part.id, part.delta);
      case 'tool-call':
        if (!part.providerExecuted) close(part);
        return;
      case 'file':
        return file(assembly, part);
      case 'tool-input-end':
      case 'tool-result':
      case 'tool-approval-request':
      case 'reasoning-file':
      case 'source':
      case 'custom':
      case 'stream-start':
      case 'response-metadata':
      case 'finish':
      case 'ping':
      case 'raw':
        return;
      case 'error':
        throw malformedFault('something that cannot be read', String(part.error), who, true);
    }
  }

  function open(id: string, tool: string): number {
    calls.push({ id, fed: false, input: undefined });
    assembly.call(calls.length - 1, { id, tool });
    return calls.length - 1;
  }

  function feed(id: string, delta: string): void {
    const key = calls.findLastIndex((each) => each.id === id);
    const call = calls[key];
    if (!call || call.input !== undefined || delta === '') return;
    call.fed = true;
    assembly.call(key, { input: delta });
  }

  function close(part: LanguageModelV4StreamPart & { type: 'tool-call' }): void {
    const open_ = calls.findLastIndex((each) => each.id === part.toolCallId && each.input === undefined);
    const key = open_ < 0 ? open(part.toolCallId, part.toolName) : open_;
    const call = calls[key] as Heard;
    data = {};
    gather(part.providerMetadata);
    const meta = metaFor('tool-call');
    assembly.call(key, { ...(call.fed ? {} : { input: part.input }), ...(meta ? { meta } : {}) });
    call.input = part.input;
  }

  return {
    hear,
    take: () => assembly.take(),
    end({ finish, rawFinish, usage, model: answered }, model) {
      const inputs = calls.map((call) => call.input);
      assembly.end({
        finish: unified(
          finish ?? 'other',
          inputs.some((input) => input !== undefined),
        ),
        ...(rawFinish === undefined ? {} : { rawFinish }),
        usage,
        model: answered ?? model,
      });
      return assembly
        .take()
        .map((chunk) => (chunk.type === 'end' ? { ...chunk, message: settled(chunk.message, inputs) } : chunk));
    },
  };
}

/** Servers do not agree whether an answer with calls has stopped: the calls decide. */
function unified(finish: Finish, calls: boolean): Finish {
  if (finish === 'stop' || finish === 'refusal') return calls ? 'tool-calls' : finish;
  return finish === 'tool-calls' && !calls ? 'stop' : finish;
}

/** The message with each call's input as it was declared whole, and without calls that never were. */
function settled(message: Message, inputs: readonly (string | undefined)[]): Message {
  let next = 0;
  const parts = message.parts.flatMap((part): Part[] => {
    if (part.type !== 'tool-call') return [part];
    const input = inputs[next++];
    return input === undefined ? [] : [{ ...part, ...readInput(input) }];
  });
  return { ...message, parts };
}

function file(assembly: Assembly, { mediaType, data }: LanguageModelV4StreamPart & { type: 'file' }): void {
  if (data.type !== 'data') return;
  const text = typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64');
  assembly.file({ type: 'file', mediaType, data: text });
}

const known = (values: { readonly [key: string]: unknown } | undefined): JsonObject =>
  Object.fromEntries(
    Object.entries(values ?? {}).filter(([, value]) => value !== null && value !== undefined),
  ) as JsonObject;

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
