// Lets the bytes of a streamed answer through as they come, up to the first call: from there on they wait for the verdict.
import type { Dialect, StreamEvent } from '../dialects/dialect.ts';
import { framesIn, wholeEnd } from './frames.ts';

/** A stream on its way through. */
export type Passage = {
  /** Takes bytes, and gives what may go on at once. */
  take(chunk: Uint8Array): Buffer | undefined;
  /** Nothing more comes: gives what may go on without a verdict. */
  end(): Buffer | undefined;
  readonly holds: boolean;
  /** Whether a call has begun. */
  readonly calls: boolean;
  /** What waits. */
  readonly held: readonly Buffer[];
  /** What went on. */
  readonly sent: readonly Buffer[];
};

/** How many bytes may wait, a single event or all that is held. */
const mostHeld = 64 * 1024 * 1024;

/** A passage. Nothing is read that holds no marker of a call: what only passes costs a search. */
export function passage(dialect: Dialect, holdsAll: boolean): Passage {
  let tail: Buffer = Buffer.alloc(0);
  let holds = holdsAll;
  let calls = false;
  let waiting = 0;
  const held: Buffer[] = [];
  const sent: Buffer[] = [];

  function pass(block: Buffer): Buffer | undefined {
    if (block.length === 0) return undefined;
    const found = !calls && mayCall(dialect, block) ? firstCall(block, dialect) : -1;
    calls ||= found >= 0;
    const call = holds ? 0 : found;
    if (call < 0) {
      sent.push(block);
      return block;
    }
    holds = true;
    waiting += block.length;
    held.push(block.subarray(call));
    if (call === 0) return undefined;
    sent.push(block.subarray(0, call));
    return block.subarray(0, call);
  }

  return {
    take(chunk) {
      const bytes = asBuffer(chunk);
      const whole = tail.length ? Buffer.concat([tail, bytes]) : bytes;
      const end = wholeEnd(whole);
      tail = whole.subarray(end);
      if (tail.length + waiting > mostHeld) throw new RangeError('The answer is too long to be held.');
      return pass(whole.subarray(0, end));
    },
    end() {
      const rest = tail;
      tail = Buffer.alloc(0);
      return pass(rest);
    },
    get holds() {
      return holds;
    },
    get calls() {
      return calls;
    },
    held,
    sent,
  };
}

const asBuffer = (chunk: Uint8Array): Buffer =>
  Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);

/** Whether a call may be in these bytes. A name may be written with escapes: then only reading it tells. */
export const mayCall = ({ markers }: Dialect, block: Buffer): boolean =>
  markers.some((marker) => block.includes(marker)) || block.includes('\\u');

function firstCall(block: Buffer, dialect: Dialect): number {
  const reader = dialect.assembler();
  let at = 0;
  for (const { bytes, event } of framesIn(block)) {
    // What we cannot read, a more generous client might.
    if (event ? reader.take(event).holds : mayCall(dialect, bytes)) return at;
    at += bytes.length;
  }
  return -1;
}

/** The events in these bytes; `unread` hears of those that cannot be read. A long answer is read in slices, so that others are served meanwhile. */
export async function eventsIn(
  blocks: readonly Buffer[],
  unread: (frame: Buffer) => void = () => {},
): Promise<readonly StreamEvent[]> {
  const found: StreamEvent[] = [];
  let read = 0;
  for (const block of blocks) {
    for (const { bytes, event } of framesIn(block))
      if (event) found.push(event);
      else unread(bytes);
    read += block.length;
    if (read < 64 * 1024) continue;
    read = 0;
    await new Promise(setImmediate);
  }
  return found;
}
