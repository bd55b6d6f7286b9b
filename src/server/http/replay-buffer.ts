// The messages of a followed session: their form as server-sent events, and a buffer of the latest that each subscriber reads at its own pace.
import type { Event, FleetRun, PartialText } from '../../core/index.ts';
import { formatSseFrame } from '../../wire/index.ts';

/** How much is kept; a subscriber that is further behind reads the log. */
export type BufferLimits = { readonly items: number; readonly chars: number };

/** The latest messages of a session. */
export type ReplayBuffer = {
  /** Every event after this sequence number is in the buffer, or will be. */
  oldestBufferedAfterSeq: number;
  append(message: SessionMessage): void;
  /** Whether messages at this position were evicted. */
  isEvicted(position: number): boolean;
  /** Returns the position after the event with this sequence number. */
  positionAfter(seq: number): number;
  /** Returns the messages from a position on, as many as one write takes, without events up to `seq` and without chunks unless wanted; and where to continue. */
  read(
    position: number,
    seq: number,
    withChunks: boolean,
  ): { readonly messages: readonly SessionMessage[]; readonly position: number; readonly seq: number };
  /** Wakes all waiting subscribers. */
  readonly wake: () => void;
  /** Waits for the next message, or until `resolve` is called. */
  wait(): { readonly promise: Promise<void>; readonly resolve: () => void };
};

/** Max characters of one write. */
const maxReadChars = 65_536;

const seqOf = (message: SessionMessage | undefined): number | undefined =>
  message?.type === 'event' ? message.event.seq : undefined;

/** Creates an empty buffer for events after a sequence number. */
export function createReplayBuffer(startSeq: number, limits: BufferLimits): ReplayBuffer {
  const items: SessionMessage[] = [];
  const waiting = new Set<() => void>();
  let base = 0;
  let chars = 0;
  let isWakeScheduled = false;
  const buffer: ReplayBuffer = {
    oldestBufferedAfterSeq: startSeq,
    append(message) {
      items.push(message);
      chars += formatSessionMessage(message).length;
      while (items.length > limits.items || (chars > limits.chars && items.length > 1)) {
        const evicted = items.shift();
        base++;
        chars -= evicted ? formatSessionMessage(evicted).length : 0;
        buffer.oldestBufferedAfterSeq = seqOf(evicted) ?? buffer.oldestBufferedAfterSeq;
      }
      // Messages that are appended together are read together: each write to each subscriber costs a system call.
      if (!isWakeScheduled) setImmediate(buffer.wake);
      isWakeScheduled = true;
    },
    isEvicted: (position) => position < base,
    positionAfter(seq) {
      const at = items.findIndex((message) => (seqOf(message) ?? 0) > seq);
      return base + (at >= 0 ? at : items.findLastIndex(({ type }) => type === 'event') + 1);
    },
    read(position, seq, withChunks) {
      const messages: SessionMessage[] = [];
      let size = 0;
      let at = position;
      let last = seq;
      for (; at < base + items.length && size < maxReadChars; at++) {
        const message = items[at - base];
        // A subscriber may have seen more events than a broadcaster that started earlier has read.
        if (!message || (seqOf(message) ?? last + 1) <= last || (message.type === 'chunk' && !withChunks)) continue;
        messages.push(message);
        size += formatSessionMessage(message).length;
        last = seqOf(message) ?? last;
      }
      return { messages, position: at, seq: last };
    },
    wake() {
      isWakeScheduled = false;
      for (const resolve of waiting) resolve();
      waiting.clear();
    },
    wait() {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.add(resolve);
      return {
        promise,
        resolve() {
          waiting.delete(resolve);
          resolve();
        },
      };
    },
  };
  return buffer;
}

/** A message to the subscribers of a session. A `chunk` is partial text of the current turn; `end` follows the end of the run. */
export type SessionMessage =
  | { readonly type: 'event'; readonly event: Event }
  | { readonly type: 'chunk'; readonly chunk: Omit<PartialText, 'since'> }
  | { readonly type: 'run'; readonly run: FleetRun }
  | { readonly type: 'end'; readonly run: string };

/** Frames by message: a message goes to many subscribers and is serialised once. */
const frames = new WeakMap<SessionMessage, string>();

/** Formats a session message as a frame; the id of an event is its sequence number. */
function formatSessionMessage(message: SessionMessage): string {
  const known = frames.get(message);
  if (known !== undefined) return known;
  const seq = message.type === 'event' ? message.event.seq : undefined;
  const frame = formatSseFrame(JSON.stringify(messageData(message)), message.type, seq);
  frames.set(message, frame);
  return frame;
}

function messageData(message: SessionMessage): unknown {
  if (message.type === 'event') return message.event;
  if (message.type === 'chunk') return message.chunk;
  return message.type === 'run' ? message.run : { run: message.run };
}

/** Formats batches of session messages, one text each. */
export async function* formatSessionMessages(
  batches: AsyncIterable<readonly SessionMessage[]>,
): AsyncGenerator<string> {
  for await (const batch of batches) yield batch.map(formatSessionMessage).join('');
}
