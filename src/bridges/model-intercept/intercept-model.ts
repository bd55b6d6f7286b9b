// Intercepts one model request of a framework: adds notes, retries while the response is rejected, and streams events.
import { errorMessage, type Message, type MessagePart } from '../../core/index.ts';
import type { TrackedRequest } from '../conversation-tracking/tracker.ts';
import type { MessageAddition, ParsedModelResponse } from '../../wire/index.ts';
import { formatStopMessage, type StopAction } from '../interceptor/stop-action.ts';

/** Reads one response incrementally; a whole response is one event. */
export type ModelStreamReader<E> = {
  /** Adds an event; returns true if it must wait for the verdict. All later events then wait too. */
  push(event: E): boolean;
  /** The response after the last event; or the failure, thrown unless an event reported it. */
  response(): ParsedModelResponse | Error | { readonly reported: Error };
  /** The text that passed. */
  shownText(): readonly string[];
  /** The held events that must pass even if the response is rejected: the ends of started blocks. */
  closingEvents(held: readonly E[]): readonly E[];
};

/** A request of a framework. */
export type ModelExchange<E> = {
  /** Asks the interceptor of the conversation. */
  ask(): Promise<TrackedRequest>;
  /** Sends the request with these additions, each after the message with its index; attempts count from 0. */
  send(additions: readonly MessageAddition[], attempt: number): AsyncIterable<E> | Promise<AsyncIterable<E>>;
  reader(): ModelStreamReader<E>;
  /** The events that end the framework's loop. */
  stopped(stop: StopAction): readonly E[];
  /** Whether all events wait for the verdict, because checks read whole responses. */
  readonly held?: boolean;
  /** Whether the framework merges all shown text into one. */
  readonly oneText?: boolean;
};

/** Returns the events of the accepted response. */
export async function* interceptModelStream<E>(call: ModelExchange<E>): AsyncGenerator<E, void, undefined> {
  const talk = await call.ask();
  const { interceptor, storedMessages } = talk;
  let { action } = talk;
  // Text of rejected responses that already passed: the caller will send it back.
  const shown: string[] = [];
  let open = false;
  try {
    for (let attempt = 0; action.type === 'send'; attempt++) {
      open = true;
      const began = performance.now();
      const reader = call.reader();
      const held: E[] = [];
      for await (const event of await call.send(shiftAdditions(action.additions, storedMessages), attempt)) {
        if (reader.push(event) || held.length > 0 || call.held) held.push(event);
        else yield event;
      }
      const answer = reader.response();
      if (answer instanceof Error) throw answer;
      if ('reported' in answer) {
        await interceptor.recordFailure(errorMessage(answer.reported));
        open = false;
        yield* reader.closingEvents(held);
        return;
      }
      const message = mergeShownText(answer.message, shown, call.oneText);
      action = await interceptor.afterResponse({ ...answer, message, ms: performance.now() - began });
      open = false;
      if (action.type === 'pass') {
        talk.markDelivered(message, answer.id);
        yield* held;
        return;
      }
      if (call.held) continue;
      for (const item of reader.shownText()) shown.push(item);
      yield* reader.closingEvents(held);
    }
    if (action.type !== 'stop') return;
    const words: Message = { role: 'assistant', parts: [{ type: 'text', text: formatStopMessage(action) }] };
    talk.markDelivered(mergeShownText(words, shown, call.oneText));
    yield* call.stopped(action);
  } catch (error) {
    if (open) await ignoreFailure(interceptor.recordFailure(errorMessage(error)));
    open = false;
    throw error;
  } finally {
    if (open) await ignoreFailure(interceptor.recordFailure('The caller did not wait for the answer.'));
    talk.release();
  }
}

/** The response as the caller will send it back, including earlier shown text. */
function mergeShownText(message: Message, shown: readonly string[], oneText = false): Message {
  if (shown.length === 0) return message;
  const parts = [...shown.map((text): MessagePart => ({ type: 'text', text })), ...message.parts];
  if (!oneText) return { ...message, parts };
  const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  return { ...message, parts: [{ type: 'text', text: words }, ...message.parts.filter(({ type }) => type !== 'text')] };
}

/** Messages stored by the provider include their additions: only later ones are sent. */
const shiftAdditions = (additions: readonly MessageAddition[], before: number): readonly MessageAddition[] =>
  before === 0
    ? additions
    : additions.flatMap((each): readonly MessageAddition[] =>
        each.type === 'system' ? [each] : each.after < before ? [] : [{ ...each, after: each.after - before }],
      );

/** If recording fails too, the first error counts. */
const ignoreFailure = (recording: Promise<void>): Promise<void> => recording.catch(() => {});

/** Returns a whole response through the same path. */
export async function interceptModelCall<R>(
  call: Omit<ModelExchange<R>, 'send' | 'reader' | 'stopped'> & {
    send(additions: readonly MessageAddition[]): PromiseLike<R>;
    read(response: R): ParsedModelResponse;
    stopped(stop: StopAction): R;
  },
): Promise<R> {
  const events = interceptModelStream<R>({
    ...call,
    async *send(additions) {
      yield await call.send(additions);
    },
    reader: () => createWholeReader((response) => call.read(response)),
    stopped: (stop) => [call.stopped(stop)],
  });
  for await (const response of events) return response;
  throw new TypeError('An exchange ends with an answer or a stop.');
}

function createWholeReader<R>(read: (response: R) => ParsedModelResponse): ModelStreamReader<R> {
  let answer: ParsedModelResponse | Error = new Error('No answer came.');
  return {
    push(response) {
      answer = read(response);
      return true;
    },
    response: () => answer,
    shownText: () => [],
    closingEvents: () => [],
  };
}
