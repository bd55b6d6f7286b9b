// A provider in memory that answers by a script.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  FairleadError,
  toArray,
  createPersistentList,
  type Chunk,
  type Message,
  type MessagePart,
  type Price,
  type Provider,
  type ModelRequest,
} from '../core/index.ts';
import { excerptDifference, diffRequests, type RequestDiff } from './request-diff.ts';
import { failureToError } from './failure.ts';
import { assertValidRequest } from './request-validation/core-request.ts';
import { splitToolArguments, splitText } from './split-text.ts';
import { nextResponse, type ScriptRequest, type ResolvedResponse, type Script } from './script.ts';

/** The options of a scripted provider. */
export type ScriptedProviderOptions = {
  /** The family of the provider; `scripted` by default. */
  readonly family?: string;
  /** The name of the model. */
  readonly model?: string;
  /** The price; zero by default; `unknown` omits it. */
  readonly price?: Price | 'unknown';
  /** Whether it supports images; true by default. */
  readonly images?: boolean;
  /** Refuse requests that are valid in no wire format; true by default. */
  readonly validate?: boolean;
  /** Throw if a request does not extend the previous one of its session, instead of only recording it in `breaks`. */
  readonly strict?: boolean;
};

/** A provider that records its requests. */
export type ScriptedProvider = Provider & {
  /** Every request so far. */
  readonly requests: readonly ModelRequest[];
  /** Where requests did not extend the previous one. The start of an epoch is a legitimate case. */
  readonly prefixBreaks: readonly (RequestDiff & { readonly index: number })[];
  /** Replaces the script and resets the index to 0. */
  setScript(script: Script<ModelRequest>): void;
};

/** Creates a provider that answers by a script. */
export function scriptedProvider(first: Script<ModelRequest>, options: ScriptedProviderOptions = {}): ScriptedProvider {
  const { family = 'scripted', model = 'scripted', price = { input: 0, output: 0 }, strict = false } = options;
  const requests: ModelRequest[] = [];
  const breaks: (RequestDiff & { readonly index: number })[] = [];
  const latest = new Map<string, ModelRequest>();
  let script = first;
  let index = 0;

  function receive(request: ModelRequest): void {
    const before = latest.get(request.session ?? '');
    const found = before && diffRequests(before, request);
    if (found) breaks.push({ index: requests.length, ...found });
    // A copy also detects changes in place; it is expensive, so it is made only if strict.
    latest.set(request.session ?? '', strict ? copyRequest(request) : request);
    requests.push(request);
    if (found && strict) throw brokenPrefixError(requests.length - 1, found);
    if (options.validate !== false) assertValidRequest(request);
  }

  return {
    family,
    model,
    ...(price === 'unknown' ? {} : { price }),
    supportsImages: options.images ?? true,
    requests,
    prefixBreaks: breaks,
    setScript(next) {
      script = next;
      index = 0;
    },
    async *stream(request, signal) {
      receive(request);
      yield* streamResponse(await nextResponse(script, toScriptRequest(request, model, index++)), signal);
    },
  };
}

const copyRequest = (request: ModelRequest): ModelRequest => ({
  ...structuredClone({ ...request, messages: null }),
  messages: createPersistentList(structuredClone(toArray(request.messages))),
});

function brokenPrefixError(index: number, { where, was, is }: RequestDiff): FairleadError {
  const shown = excerptDifference(was, is);
  return new FairleadError(
    'testing/prefix-broken',
    `Request ${index} does not extend the previous one: ${where} was ${shown.was} and is ${shown.is}`,
    { blame: 'harness', hint: 'Messages that were sent must not change; add new ones at the end.' },
  );
}

function toScriptRequest(request: ModelRequest, model: string, index: number): ScriptRequest<ModelRequest> {
  const textsOf = (role: Message['role'], type: 'text' | 'tool-result'): readonly string[] =>
    toArray(request.messages).flatMap((message) =>
      message.role === role ? message.parts.flatMap((part) => (part.type === type ? [part.text] : [])) : [],
    );
  return {
    index,
    model,
    body: request,
    get tools() {
      return request.tools.map((tool) => tool.name);
    },
    get results() {
      return textsOf('tool', 'tool-result');
    },
    get prompt() {
      return toArray(request.messages)
        .filter((message) => message.role === 'user')
        .slice(-1)
        .flatMap((message) => message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])))
        .join('');
    },
  };
}

/** Streams the answer as chunks, with its delays and its scripted end. */
async function* streamResponse(answer: ResolvedResponse, signal: AbortSignal): AsyncGenerator<Chunk> {
  if (answer.raw)
    throw new FairleadError('testing/no-wire', 'This answer needs a transport, and a provider in memory has none.', {
      blame: 'user',
      hint: 'Use scriptedServer for answers made with sends() or sendsPage().',
    });
  if (answer.delayMs) await sleepUnlessAborted(answer.delayMs, signal);
  const most = answer.cutAfter ?? (answer.error || answer.hang ? 0 : Number.POSITIVE_INFINITY);
  let count = 0;
  for (const chunk of responseChunks(answer)) {
    if (chunk.type === 'part-delta') {
      if (count++ >= most) break;
      if (answer.chunkMs) await sleepUnlessAborted(answer.chunkMs, signal);
    }
    if (count < most || chunk.type === 'part-delta') yield chunk;
  }
  if (answer.error) throw failureToError(answer.error);
  if (answer.hang) await sleepUnlessAborted(undefined, signal);
  if (most < Number.POSITIVE_INFINITY)
    throw new FairleadError('provider/cut', 'The stream ended before the answer was complete.', {
      blame: 'provider',
      retry: true,
    });
  const { finish, usage, model, usd } = answer;
  yield {
    type: 'end',
    message: toMessage(answer),
    finishReason: finish,
    usage,
    model,
    ...(usd === undefined ? {} : { usd }),
  };
}

function* responseChunks(answer: ResolvedResponse): Generator<Chunk> {
  let index = 0;
  function* part(start: Chunk & { type: 'part-started' }, texts: readonly string[]): Generator<Chunk> {
    yield start;
    for (const text of texts) yield { type: 'part-delta', index: start.index, text };
    yield { type: 'part-ended', index: start.index };
    index++;
  }
  if (answer.reasoning !== '')
    yield* part({ type: 'part-started', index, part: 'reasoning' }, splitText(answer.reasoning));
  if (answer.text !== '') yield* part({ type: 'part-started', index, part: 'text' }, answer.textChunks);
  for (const { id, tool, raw } of answer.calls)
    yield* part({ type: 'part-started', index, part: 'tool-call', id, tool }, splitToolArguments(raw));
}

function toMessage({ reasoning, text, calls }: ResolvedResponse): Message {
  const parts: MessagePart[] = [];
  if (reasoning !== '') parts.push({ type: 'reasoning', text: reasoning });
  if (text !== '') parts.push({ type: 'text', text });
  for (const { id, tool, raw } of calls) {
    try {
      parts.push({ type: 'tool-call', id, tool, input: JSON.parse(raw) });
    } catch {
      parts.push({ type: 'tool-call', id, tool, input: {}, invalid: raw });
    }
  }
  return { role: 'assistant', parts };
}

/** Waits, without a time forever; an abort ends the wait with an error. */
async function sleepUnlessAborted(ms: number | undefined, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms ?? 2 ** 31 - 1, undefined, { signal });
  } catch (cause) {
    throw new FairleadError('provider/aborted', 'The request was aborted.', { blame: 'user', cause });
  }
}
