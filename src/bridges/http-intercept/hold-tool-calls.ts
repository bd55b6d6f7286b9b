// Lets the bytes of a streamed answer through as they come, up to the first call: from there on they wait for the verdict.
import type { WireFormat, WireStreamEvent } from '../formats/wire-format.ts';
import { splitSseFrames, findLastEventEnd } from './sse.ts';

/** A stream on its way through. */
export type ToolCallHold = {
  /** Takes bytes, and gives what may go on at once. */
  push(chunk: Uint8Array): Buffer | undefined;
  /** Nothing more comes: gives what may go on without a verdict. */
  finish(): Buffer | undefined;
  readonly isHolding: boolean;
  /** Whether a call has begun. */
  readonly hasCalls: boolean;
  /** What waits. */
  readonly held: readonly Buffer[];
  /** What went on. */
  readonly sent: readonly Buffer[];
};

/** How many bytes may wait, a single event or all that is held. */
const maxHeldBytes = 64 * 1024 * 1024;

/** A passage. Nothing is read that holds no marker of a call: what only passes costs a search. */
export function createToolCallHold(dialect: WireFormat, holdsAll: boolean): ToolCallHold {
  let tail: Buffer = Buffer.alloc(0);
  let holds = holdsAll;
  let calls = false;
  let waiting = 0;
  const held: Buffer[] = [];
  const sent: Buffer[] = [];

  function pass(block: Buffer): Buffer | undefined {
    if (block.length === 0) return undefined;
    const found = !calls && mayContainCall(dialect, block) ? findFirstCall(block, dialect) : -1;
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
    push(chunk) {
      const bytes = toBuffer(chunk);
      const whole = tail.length ? Buffer.concat([tail, bytes]) : bytes;
      const end = findLastEventEnd(whole);
      tail = whole.subarray(end);
      if (tail.length + waiting > maxHeldBytes) throw new RangeError('The answer is too long to be held.');
      return pass(whole.subarray(0, end));
    },
    finish() {
      const rest = tail;
      tail = Buffer.alloc(0);
      return pass(rest);
    },
    get isHolding() {
      return holds;
    },
    get hasCalls() {
      return calls;
    },
    held,
    sent,
  };
}

const toBuffer = (chunk: Uint8Array): Buffer =>
  Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);

/** Whether a call may be in these bytes. A name may be written with escapes: then only reading it tells. */
export const mayContainCall = ({ toolCallMarkers }: WireFormat, block: Buffer): boolean =>
  toolCallMarkers.some((marker) => block.includes(marker)) || block.includes('\\u');

function findFirstCall(block: Buffer, dialect: WireFormat): number {
  const reader = dialect.createAssembler();
  let at = 0;
  for (const { bytes, event } of splitSseFrames(block)) {
    // What we cannot read, a more generous client might.
    if (event ? reader.push(event).mustHold : mayContainCall(dialect, bytes)) return at;
    at += bytes.length;
  }
  return -1;
}

/** The events in these bytes; `unread` hears of those that cannot be read. A long answer is read in slices, so that others are served meanwhile. */
export async function parseSseEvents(
  blocks: readonly Buffer[],
  unread: (frame: Buffer) => void = () => {},
): Promise<readonly WireStreamEvent[]> {
  const found: WireStreamEvent[] = [];
  let read = 0;
  for (const block of blocks) {
    for (const { bytes, event } of splitSseFrames(block))
      if (event) found.push(event);
      else unread(bytes);
    read += block.length;
    if (read < 64 * 1024) continue;
    read = 0;
    await new Promise(setImmediate);
  }
  return found;
}
