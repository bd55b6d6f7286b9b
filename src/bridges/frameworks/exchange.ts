// One request of a framework: sent with what the guide adds, asked again while its answer is refused, and passed on as it comes.
import { errorMessage, type Message, type MessagePart } from '../../core/index.ts';
import type { Talk } from '../conversations/conversations.ts';
import { stopWords, type Stopping, type Told } from '../dialects/dialect.ts';
import type { Addition } from '../guide/given.ts';

/** Reads one answer as it comes; a whole answer is a single event. */
export type Reader<E> = {
  /** Takes an event; whether it has to wait until the answer is judged. Once one waits, all that follow do. */
  waits(event: E): boolean;
  /** The answer, once its events have all come; or why there is none, which is thrown unless an event has told it. */
  answer(): Told | Error | { readonly told: Error };
  /** The words that did not wait. */
  shown(): readonly string[];
  /** Of what waited, what has to pass even where the answer is refused: the ends of what has begun. */
  closing(held: readonly E[]): readonly E[];
};

/** A framework's request. */
export type Exchange<E> = {
  /** Asks the conversation's guide. */
  ask(): Promise<Talk>;
  /** Sends the request with these additions, each after the request's own message of its index; attempts count from 0. */
  send(additions: readonly Addition[], attempt: number): AsyncIterable<E> | Promise<AsyncIterable<E>>;
  reader(): Reader<E>;
  /** What ends the framework's own loop. */
  stopped(stop: Stopping): readonly E[];
  /** Whether nothing may be seen before the whole answer is judged: so it is where checks look at answers. */
  readonly held?: boolean;
  /** Whether the framework makes one text of all words that it was shown. */
  readonly oneText?: boolean;
};

/** The events of the answer that counts. */
export async function* exchange<E>(call: Exchange<E>): AsyncGenerator<E, void, undefined> {
  const talk = await call.ask();
  const { guide, before } = talk;
  let { guidance } = talk;
  // Words of answers that were refused later: the caller has them, and will give them back.
  const shown: string[] = [];
  let open = false;
  try {
    for (let attempt = 0; guidance.type === 'send'; attempt++) {
      open = true;
      const began = performance.now();
      const reader = call.reader();
      const held: E[] = [];
      for await (const event of await call.send(placed(guidance.additions, before), attempt)) {
        if (reader.waits(event) || held.length > 0 || call.held) held.push(event);
        else yield event;
      }
      const answer = reader.answer();
      if (answer instanceof Error) throw answer;
      if ('told' in answer) {
        await guide.failed(errorMessage(answer.told));
        open = false;
        yield* reader.closing(held);
        return;
      }
      const message = asSeen(answer.message, shown, call.oneText);
      guidance = await guide.after({ ...answer, message, ms: performance.now() - began });
      open = false;
      if (guidance.type === 'pass') {
        talk.passed(message, answer.id);
        yield* held;
        return;
      }
      if (call.held) continue;
      shown.push(...reader.shown());
      yield* reader.closing(held);
    }
    if (guidance.type !== 'stop') return;
    const words: Message = { role: 'assistant', parts: [{ type: 'text', text: stopWords(guidance) }] };
    talk.passed(asSeen(words, shown, call.oneText));
    yield* call.stopped(guidance);
  } catch (error) {
    if (open) await forgiving(guide.failed(errorMessage(error)));
    open = false;
    throw error;
  } finally {
    if (open) await forgiving(guide.failed('The caller did not wait for the answer.'));
    talk.done();
  }
}

/** An answer as the caller gives it back: after the words that it was shown before. */
function asSeen(message: Message, shown: readonly string[], oneText = false): Message {
  if (shown.length === 0) return message;
  const parts = [...shown.map((text): MessagePart => ({ type: 'text', text })), ...message.parts];
  if (!oneText) return { ...message, parts };
  const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  return { ...message, parts: [{ type: 'text', text: words }, ...message.parts.filter(({ type }) => type !== 'text')] };
}

/** What the provider keeps of a conversation holds its additions too: only those after it are sent. */
const placed = (additions: readonly Addition[], before: number): readonly Addition[] =>
  before === 0
    ? additions
    : additions.flatMap((each): readonly Addition[] =>
        each.type === 'system' ? [each] : each.after < before ? [] : [{ ...each, after: each.after - before }],
      );

/** Where the log itself is what failed, the error that counts is the first. */
const forgiving = (recording: Promise<void>): Promise<void> => recording.catch(() => {});

/** A whole answer, by the same path. */
export async function wholeExchange<R>(
  call: Omit<Exchange<R>, 'send' | 'reader' | 'stopped'> & {
    send(additions: readonly Addition[]): PromiseLike<R>;
    read(response: R): Told;
    stopped(stop: Stopping): R;
  },
): Promise<R> {
  const events = exchange<R>({
    ...call,
    async *send(additions) {
      yield await call.send(additions);
    },
    reader: () => wholeReader((response) => call.read(response)),
    stopped: (stop) => [call.stopped(stop)],
  });
  for await (const response of events) return response;
  throw new TypeError('An exchange ends with an answer or a stop.');
}

function wholeReader<R>(read: (response: R) => Told): Reader<R> {
  let answer: Told | Error = new Error('No answer came.');
  return {
    waits(response) {
      answer = read(response);
      return true;
    },
    answer: () => answer,
    shown: () => [],
    closing: () => [],
  };
}
