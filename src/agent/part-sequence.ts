// Orders the streamed parts of one message: each part starts, grows and ends before the next one starts, as the Messages API requires.
import type { Chunk } from '../core/index.ts';

/** A chunk about one part of a message. */
export type PartChunk = Extract<Chunk, { readonly type: 'part-started' | 'part-delta' | 'part-ended' }>;

type PartStart = Extract<PartChunk, { readonly type: 'part-started' }>;

/**
 * Providers may interleave parts: reasoning and text that alternate, or the arguments of parallel calls. Text that continues after another
 * part becomes a part of its own. A call cannot be divided, so chunks of other parts wait until it ends. Parts are numbered without gaps.
 */
export function createPartSequence(emit: (chunk: PartChunk) => void): {
  readonly add: (chunk: PartChunk) => void;
  /** Ends the open part and emits everything that waits. */
  readonly end: () => void;
} {
  const starts = new Map<number, PartStart>();
  let open: { readonly source: PartStart; readonly index: number } | undefined;
  let waiting: PartChunk[] = [];
  let nextIndex = 0;

  function start(source: PartStart): number {
    const index = nextIndex++;
    open = { source, index };
    emit({ ...source, index });
    return index;
  }
  function endOpen(): void {
    if (open) emit({ type: 'part-ended', index: open.index });
    open = undefined;
  }
  function addWaiting(): void {
    const chunks = waiting;
    waiting = [];
    chunks.forEach(add);
  }
  function add(chunk: PartChunk): void {
    const isOpen = open?.source.index === chunk.index;
    if (open?.source.part === 'tool-call' && !isOpen) {
      waiting.push(chunk);
      return;
    }
    if (chunk.type === 'part-ended') {
      if (!isOpen) return;
      endOpen();
      addWaiting();
      return;
    }
    if (chunk.type === 'part-started') {
      endOpen();
      starts.set(chunk.index, chunk);
      start(chunk);
      return;
    }
    if (!isOpen) endOpen();
    const index =
      open?.index ?? start(starts.get(chunk.index) ?? { type: 'part-started', index: chunk.index, part: 'text' });
    emit({ ...chunk, index });
  }
  function end(): void {
    while (open || waiting.length) {
      endOpen();
      addWaiting();
    }
  }
  return { add, end };
}
