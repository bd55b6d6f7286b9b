// Passes the bytes of a streamed response through until the first tool call; from there on it buffers until the verdict.
import type { WireFormat, WireStreamEvent } from '../../wire/index.ts';
import { splitSseFrames, findLastFrameEnd } from './sse.ts';

/** The state of an intercepted stream. */
export type ToolCallHold = {
  /** Adds bytes; returns those that may pass at once. */
  push(chunk: Uint8Array): Buffer | undefined;
  /** Ends the input; returns what may pass without a verdict. */
  finish(): Buffer | undefined;
  readonly isHolding: boolean;
  /** True after a tool call has started. */
  readonly hasCalls: boolean;
  /** The buffered bytes. */
  readonly held: readonly Buffer[];
  /** The bytes that passed. */
  readonly sent: readonly Buffer[];
};

/** Max buffered bytes, of one event or of all held events. */
const maxHeldBytes = 64 * 1024 * 1024;

/** Creates the buffer. Events without a marker of a call are not parsed, so passing text costs only a search. */
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
      const end = findLastFrameEnd(whole);
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

/** Returns true if the bytes may contain a call. Escaped names require parsing. */
export const mayContainCall = ({ toolCallMarkers }: WireFormat, block: Buffer): boolean =>
  toolCallMarkers.some((marker) => block.includes(marker)) || block.includes('\\u');

function findFirstCall(block: Buffer, dialect: WireFormat): number {
  const reader = dialect.createAssembler();
  let at = 0;
  for (const { bytes, event } of splitSseFrames(block)) {
    // A client with a more lenient parser might read what we cannot.
    if (event ? reader.push(event).mustHold : mayContainCall(dialect, bytes)) return at;
    at += bytes.length;
  }
  return -1;
}

/** Parses the events in these bytes; `unread` gets those that cannot be parsed. Long responses are parsed in slices to keep the event loop responsive. */
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
