// One request of a framework: sent with what the guide adds, asked again while its answer is refused, and passed on as it comes.
import { errorMessage, type Message, type MessagePart } from '../../core/index.ts';
import type { TrackedRequest } from '../conversation-tracking/tracker.ts';
import { formatStopMessage, type StopAction, type ParsedModelResponse } from '../formats/wire-format.ts';
import type { MessageAddition } from '../interceptor/caller-history.ts';

/** Reads one answer as it comes; a whole answer is a single event. */
export type ModelStreamReader<E> = {
  /** Takes an event; whether it has to wait until the answer is judged. Once one waits, all that follow do. */
  push(event: E): boolean;
  /** The answer, once its events have all come; or why there is none, which is thrown unless an event has told it. */
  response(): ParsedModelResponse | Error | { readonly reported: Error };
  /** The words that did not wait. */
  shownText(): readonly string[];
  /** Of what waited, what has to pass even where the answer is refused: the ends of what has begun. */
  closingEvents(held: readonly E[]): readonly E[];
};

/** A framework's request. */
export type ModelExchange<E> = {
  /** Asks the conversation's guide. */
  ask(): Promise<TrackedRequest>;
  /** Sends the request with these additions, each after the request's own message of its index; attempts count from 0. */
  send(additions: readonly MessageAddition[], attempt: number): AsyncIterable<E> | Promise<AsyncIterable<E>>;
  reader(): ModelStreamReader<E>;
  /** What ends the framework's own loop. */
  stopped(stop: StopAction): readonly E[];
  /** Whether nothing may be seen before the whole answer is judged: so it is where checks look at answers. */
  readonly held?: boolean;
  /** Whether the framework makes one text of all words that it was shown. */
  readonly oneText?: boolean;
};

/** The events of the answer that counts. */
export async function* interceptModelStream<E>(call: ModelExchange<E>): AsyncGenerator<E, void, undefined> {
  const talk = await call.ask();
  const { interceptor, storedMessages } = talk;
  let { action } = talk;
  // Words of answers that were refused later: the caller has them, and will give them back.
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
      shown.push(...reader.shownText());
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

/** An answer as the caller gives it back: after the words that it was shown before. */
function mergeShownText(message: Message, shown: readonly string[], oneText = false): Message {
  if (shown.length === 0) return message;
  const parts = [...shown.map((text): MessagePart => ({ type: 'text', text })), ...message.parts];
  if (!oneText) return { ...message, parts };
  const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  return { ...message, parts: [{ type: 'text', text: words }, ...message.parts.filter(({ type }) => type !== 'text')] };
}

/** What the provider keeps of a conversation holds its additions too: only those after it are sent. */
const shiftAdditions = (additions: readonly MessageAddition[], before: number): readonly MessageAddition[] =>
  before === 0
    ? additions
    : additions.flatMap((each): readonly MessageAddition[] =>
        each.type === 'system' ? [each] : each.after < before ? [] : [{ ...each, after: each.after - before }],
      );

/** Where the log itself is what failed, the error that counts is the first. */
const ignoreFailure = (recording: Promise<void>): Promise<void> => recording.catch(() => {});

/** A whole answer, by the same path. */
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
