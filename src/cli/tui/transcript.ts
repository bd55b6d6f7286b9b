// The transcript of the screen, above the input field. A line that has scrolled off the screen never changes again.
import { escapeInvisible } from '../../core/index.ts';
import { CUT_LABEL } from './format.ts';
import { renderBlock, renderChunk, type LayoutStyle } from './layout.ts';
import { createMarkdownChunks, type MarkdownChunks } from './markdown-chunks.ts';
import type { TranscriptBlock } from '../../sessions/index.ts';

/** The recent blocks of a session on the screen; only the part that is still visible is laid out. */
export type ScreenTranscript = {
  putBlock(block: TranscriptBlock): void;
  appendText(id: string, text: string): void;
  removeBlock(id: string): void;
  clear(): void;
  /** Whether a block has started to scroll off. */
  isScrolled(id: string): boolean;
  /** Invalidates all layouts. */
  relayout(): void;
  /** Returns the lines that have not scrolled off. */
  lines(width: number): readonly string[];
  /** Records that the first `count` lines of the last `lines` call have scrolled off. */
  freeze(count: number): void;
  /** Keeps only the last lines, after the terminal was resized. */
  refit(width: number, rows: number): void;
};

type RenderedLines = { readonly width: number; readonly lines: readonly string[] };
type TranscriptEntry = {
  block: TranscriptBlock;
  chunks?: MarkdownChunks;
  /** The lines of the closed chunks. */
  readonly chunkLines: RenderedLines[];
  rendered: RenderedLines | undefined;
  /** How many lines have scrolled off, without those of the dropped chunks. */
  frozen: number;
  /** How many chunks have scrolled off completely and are no longer laid out, and how many lines they had. */
  scrolledChunks: number;
  scrolledChunkLines: number;
  shown: boolean;
};

// Enough blocks for unfolding and for a resize; older ones are only in the scrollback of the terminal.
const MAX_BLOCKS = 300;
const MAX_OUTPUT_CHARS = 1 << 18;

/** Creates an empty transcript. */
export function createScreenTranscript(style: LayoutStyle): ScreenTranscript {
  let entries: TranscriptEntry[] = [];
  const known = new Map<string, TranscriptEntry>();
  let skipped = 0;
  let rendered: { readonly entry: TranscriptEntry; readonly count: number }[] = [];

  function createEntry(block: TranscriptBlock): TranscriptEntry {
    const entry: TranscriptEntry = {
      block,
      chunkLines: [],
      rendered: undefined,
      frozen: 0,
      scrolledChunks: 0,
      scrolledChunkLines: 0,
      shown: false,
    };
    const text = blockMarkdown(block);
    if (text !== undefined) entry.chunks = createMarkdownChunks(text);
    return entry;
  }

  function add(block: TranscriptBlock): void {
    const entry = createEntry(block);
    entries.push(entry);
    known.set(block.id, entry);
    while (entries.length > MAX_BLOCKS) {
      const [oldest] = entries.splice(0, 1);
      if (oldest === undefined) return;
      if (known.get(oldest.block.id) === oldest) known.delete(oldest.block.id);
      if (!oldest.shown) skipped += 1;
    }
  }

  function replace(entry: TranscriptEntry, block: TranscriptBlock): void {
    const text = blockMarkdown(block);
    const before = blockMarkdown(entry.block);
    if (entry.chunks !== undefined && text !== undefined && before !== undefined && text.startsWith(before)) {
      entry.chunks.append(text.slice(before.length));
    } else if (text !== undefined) {
      entry.chunks = createMarkdownChunks(text);
      restoreChunks(entry);
      entry.chunkLines.length = 0;
    }
    entry.block = block;
    entry.rendered = undefined;
  }

  function linesOf(entry: TranscriptEntry, width: number): readonly string[] {
    if (entry.rendered?.width === width) return entry.rendered.lines;
    const lines =
      entry.chunks === undefined ? blockLines(entry.block, width) : chunkedLines(entry, entry.chunks, width);
    entry.rendered = { width, lines };
    return lines;
  }

  function chunkedLines(entry: TranscriptEntry, chunks: MarkdownChunks, width: number): readonly string[] {
    const lines: string[] = [];
    const { block } = entry;
    if (block.type === 'output' && block.title !== undefined)
      lines.push(style.styles.bold(escapeInvisible(block.title)), '');
    for (let index = entry.scrolledChunks; index < chunks.closed.length; index += 1) {
      const chunk = chunks.closed[index];
      if (chunk === undefined) break;
      let cached = entry.chunkLines[index];
      if (cached?.width !== width) {
        cached = { width, lines: renderChunk(chunk, width, style) };
        entry.chunkLines[index] = cached;
      }
      for (const line of cached.lines) lines.push(line);
    }
    const open = chunks.open();
    if (open !== undefined) for (const item of renderChunk(open, width, style)) lines.push(item);
    if (block.type === 'assistant' && block.cut) lines.push(style.styles.yellow(CUT_LABEL));
    return lines;
  }

  function blockLines(block: TranscriptBlock, width: number): readonly string[] {
    return block.type === 'assistant' ? [] : renderBlock(block, width, style);
  }

  // A blank line between blocks, but not between calls or between notices.
  function withSpace(index: number, width: number): readonly string[] {
    const entry = entries[index];
    if (entry === undefined) return [];
    const lines = linesOf(entry, width);
    const before = entries[index - 1]?.block.type;
    const { type } = entry.block;
    const close = before === type && (type === 'call' || type === 'notice');
    return lines.length === 0 || close ? lines : ['', ...lines];
  }

  return {
    putBlock(block) {
      const entry = known.get(block.id);
      if (entry === undefined) return add(block);
      const scrolledOff = entry.shown && entry.frozen > 0 && entry.frozen >= (entry.rendered?.lines.length ?? 0);
      replace(entry, block);
      // The end of a call that has scrolled off is shown again below, where it is visible.
      if (scrolledOff && block.type === 'call' && block.status !== 'running') add(block);
    },
    appendText(id, text) {
      const entry = known.get(id);
      if (entry === undefined) return;
      const { block } = entry;
      entry.rendered = undefined;
      entry.chunks?.append(text);
      if (block.type === 'assistant' || block.type === 'reasoning') entry.block = { ...block, text: block.text + text };
      if (block.type !== 'call') return;
      const output = (block.output ?? '') + text;
      entry.block = {
        ...block,
        output: output.length > MAX_OUTPUT_CHARS * 2 ? output.slice(-MAX_OUTPUT_CHARS) : output,
      };
    },
    removeBlock(id) {
      const entry = known.get(id);
      if (entry === undefined) return;
      known.delete(id);
      const notice = { type: 'notice', id, level: 'info', text: 'the partial answer was discarded' } as const;
      entries.splice(entries.indexOf(entry), 1, ...(entry.frozen > 0 ? [createEntry(notice)] : []));
    },
    clear() {
      entries = [];
      known.clear();
      skipped = 0;
    },
    isScrolled: (id) => (known.get(id)?.frozen ?? 1) > 0,
    relayout() {
      for (const entry of entries) {
        entry.rendered = undefined;
        entry.chunkLines.length = 0;
      }
    },
    lines(width) {
      const lines: string[] = [];
      rendered = [];
      if (skipped > 0) {
        const block = { type: 'notice', level: 'info', text: `… ${skipped} earlier blocks`, id: '' } as const;
        entries.unshift(createEntry(block));
        skipped = 0;
      }
      for (const [index, entry] of entries.entries()) {
        if (entry.frozen === Infinity) continue;
        const own = withSpace(index, width);
        entry.shown = true;
        const live = entry.frozen === 0 ? own : own.slice(entry.frozen);
        rendered.push({ entry, count: live.length });
        for (const line of live) lines.push(line);
      }
      return lines;
    },
    freeze(count) {
      let left = count;
      for (const { entry, count: own } of rendered) {
        const part = Math.min(left, own);
        left -= part;
        entry.frozen += part;
        dropScrolledChunks(entry);
        if (part === own && isBlockFinal(entry.block)) entry.frozen = Infinity;
        if (left === 0) return;
      }
    },
    refit(width, rows) {
      let left = rows;
      for (let index = entries.length - 1; index >= 0; index -= 1) {
        const entry = entries[index];
        if (entry === undefined) continue;
        if (left <= 0 && isBlockFinal(entry.block)) {
          entry.frozen = Infinity;
          continue;
        }
        restoreChunks(entry);
        const count = withSpace(index, width).length;
        entry.frozen = Math.max(0, count - Math.max(0, left));
        left -= count;
      }
    },
  };
}

// More than the lines above the first chunk: a blank line and a title.
const MAX_HEADER_LINES = 3;

function dropScrolledChunks(entry: TranscriptEntry): void {
  for (
    let cached = entry.chunkLines[entry.scrolledChunks];
    cached !== undefined;
    cached = entry.chunkLines[entry.scrolledChunks]
  ) {
    if (entry.frozen < MAX_HEADER_LINES + cached.lines.length) return;
    entry.frozen -= cached.lines.length;
    entry.scrolledChunkLines += cached.lines.length;
    entry.scrolledChunks += 1;
    entry.rendered = undefined;
  }
}

function restoreChunks(entry: TranscriptEntry): void {
  if (entry.scrolledChunks === 0) return;
  entry.frozen += entry.scrolledChunkLines;
  entry.scrolledChunks = 0;
  entry.scrolledChunkLines = 0;
  entry.chunkLines.length = 0;
  entry.rendered = undefined;
}

function blockMarkdown(block: TranscriptBlock): string | undefined {
  if (block.type === 'assistant') return block.text;
  return block.type === 'output' && block.markdown === true ? block.text : undefined;
}

function isBlockFinal(block: TranscriptBlock): boolean {
  if (block.type === 'assistant' || block.type === 'reasoning') return block.settled;
  return block.type !== 'call' || (block.status !== 'running' && block.status !== 'waiting');
}
