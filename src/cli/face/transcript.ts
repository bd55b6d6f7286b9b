// The part of the screen above the entry field. Law: a line that has scrolled away is the terminal's and never changes.
import { escapeInvisible } from '../../core/index.ts';
import type { Block } from './face.ts';
import { blockLines, pieceLines, type Style } from './layout.ts';
import { piecesOf, type Pieces } from './pieces.ts';

/** What the screen shows of a session: the blocks of late, of which only what is still on the screen is laid out. */
export type Transcript = {
  put(block: Block): void;
  extend(id: string, text: string): void;
  drop(id: string): void;
  clear(): void;
  /** Whether a block has begun to scroll away. */
  scrolled(id: string): boolean;
  /** Says that layouts made before no longer hold. */
  relayout(): void;
  /** The lines that have not scrolled away. */
  lines(width: number): readonly string[];
  /** Takes note that the first lines given last have scrolled away. */
  freeze(count: number): void;
  /** Begins anew with the last lines only, after the terminal changed its size. */
  refit(width: number, rows: number): void;
};

type Laid = { readonly width: number; readonly lines: readonly string[] };
type Entry = {
  block: Block;
  pieces?: Pieces;
  /** Layouts of the settled pieces. */
  readonly laid: Laid[];
  whole: Laid | undefined;
  /** How many lines have scrolled away, not counting those of the pieces let go. */
  frozen: number;
  /** How many pieces have scrolled away whole and are no longer laid out, and how many lines they were. */
  gone: number;
  goneLines: number;
  shown: boolean;
};

// As many blocks as a person may want unfolded or after a change of size; older ones live in the scrollback.
const KEPT = 300;
const OUTPUT_KEPT = 1 << 18;

/** An empty transcript. */
export function transcriptOf(style: Style): Transcript {
  let entries: Entry[] = [];
  const known = new Map<string, Entry>();
  let skipped = 0;
  let given: { readonly entry: Entry; readonly count: number }[] = [];

  function entryOf(block: Block): Entry {
    const entry: Entry = { block, laid: [], whole: undefined, frozen: 0, gone: 0, goneLines: 0, shown: false };
    const text = markdownOf(block);
    if (text !== undefined) entry.pieces = piecesOf(text);
    return entry;
  }

  function add(block: Block): void {
    const entry = entryOf(block);
    entries.push(entry);
    known.set(block.id, entry);
    while (entries.length > KEPT) {
      const [oldest] = entries.splice(0, 1);
      if (oldest === undefined) return;
      if (known.get(oldest.block.id) === oldest) known.delete(oldest.block.id);
      if (!oldest.shown) skipped += 1;
    }
  }

  function replace(entry: Entry, block: Block): void {
    const text = markdownOf(block);
    const before = markdownOf(entry.block);
    if (entry.pieces !== undefined && text !== undefined && before !== undefined && text.startsWith(before)) {
      entry.pieces.add(text.slice(before.length));
    } else if (text !== undefined) {
      entry.pieces = piecesOf(text);
      bringBack(entry);
      entry.laid.length = 0;
    }
    entry.block = block;
    entry.whole = undefined;
  }

  function laidOut(entry: Entry, width: number): readonly string[] {
    if (entry.whole?.width === width) return entry.whole.lines;
    const lines = entry.pieces === undefined ? ownLines(entry.block, width) : pieced(entry, entry.pieces, width);
    entry.whole = { width, lines };
    return lines;
  }

  function pieced(entry: Entry, pieces: Pieces, width: number): readonly string[] {
    const lines: string[] = [];
    const { block } = entry;
    if (block.type === 'page' && block.title !== undefined)
      lines.push(style.paint.bold(escapeInvisible(block.title)), '');
    for (let index = entry.gone; index < pieces.settled.length; index += 1) {
      const piece = pieces.settled[index];
      if (piece === undefined) break;
      let laid = entry.laid[index];
      if (laid?.width !== width) {
        laid = { width, lines: pieceLines(piece, width, style) };
        entry.laid[index] = laid;
      }
      for (const line of laid.lines) lines.push(line);
    }
    const open = pieces.open();
    if (open !== undefined) lines.push(...pieceLines(open, width, style));
    return lines;
  }

  function ownLines(block: Block, width: number): readonly string[] {
    return block.type === 'answer' ? [] : blockLines(block, width, style);
  }

  // A blank line between blocks, except between calls and between notices, which stand together.
  function withSpace(index: number, width: number): readonly string[] {
    const entry = entries[index];
    if (entry === undefined) return [];
    const lines = laidOut(entry, width);
    const before = entries[index - 1]?.block.type;
    const { type } = entry.block;
    const close = before === type && (type === 'call' || type === 'notice');
    return lines.length === 0 || close ? lines : ['', ...lines];
  }

  return {
    put(block) {
      const entry = known.get(block.id);
      if (entry === undefined) return add(block);
      const gone = entry.shown && entry.frozen > 0 && entry.frozen >= (entry.whole?.lines.length ?? 0);
      replace(entry, block);
      // The end of a call that has scrolled away is told below, where it can be seen.
      if (gone && block.type === 'call' && block.standing !== 'running') add(block);
    },
    extend(id, text) {
      const entry = known.get(id);
      if (entry === undefined) return;
      const { block } = entry;
      entry.whole = undefined;
      entry.pieces?.add(text);
      if (block.type === 'answer' || block.type === 'thought') entry.block = { ...block, text: block.text + text };
      if (block.type !== 'call') return;
      const output = (block.output ?? '') + text;
      entry.block = { ...block, output: output.length > OUTPUT_KEPT * 2 ? output.slice(-OUTPUT_KEPT) : output };
    },
    drop(id) {
      const entry = known.get(id);
      if (entry === undefined) return;
      known.delete(id);
      const notice = { type: 'notice', id, level: 'info', text: 'what was being said is taken back' } as const;
      entries.splice(entries.indexOf(entry), 1, ...(entry.frozen > 0 ? [entryOf(notice)] : []));
    },
    clear() {
      entries = [];
      known.clear();
      skipped = 0;
    },
    scrolled: (id) => (known.get(id)?.frozen ?? 1) > 0,
    relayout() {
      for (const entry of entries) {
        entry.whole = undefined;
        entry.laid.length = 0;
      }
    },
    lines(width) {
      const lines: string[] = [];
      given = [];
      if (skipped > 0) {
        const block = { type: 'notice', level: 'info', text: `… ${skipped} earlier blocks`, id: '' } as const;
        entries.unshift(entryOf(block));
        skipped = 0;
      }
      for (const [index, entry] of entries.entries()) {
        if (entry.frozen === Infinity) continue;
        const own = withSpace(index, width);
        entry.shown = true;
        const live = entry.frozen === 0 ? own : own.slice(entry.frozen);
        given.push({ entry, count: live.length });
        for (const line of live) lines.push(line);
      }
      return lines;
    },
    freeze(count) {
      let left = count;
      for (const { entry, count: own } of given) {
        const part = Math.min(left, own);
        left -= part;
        entry.frozen += part;
        letGo(entry);
        if (part === own && isSettled(entry.block)) entry.frozen = Infinity;
        if (left === 0) return;
      }
    },
    refit(width, rows) {
      let left = rows;
      for (let index = entries.length - 1; index >= 0; index -= 1) {
        const entry = entries[index];
        if (entry === undefined) continue;
        if (left <= 0 && isSettled(entry.block)) {
          entry.frozen = Infinity;
          continue;
        }
        bringBack(entry);
        const count = withSpace(index, width).length;
        entry.frozen = Math.max(0, count - Math.max(0, left));
        left -= count;
      }
    },
  };
}

// More than the lines that may stand above the first piece: a space and a title.
const HEAD = 3;

function letGo(entry: Entry): void {
  for (let laid = entry.laid[entry.gone]; laid !== undefined; laid = entry.laid[entry.gone]) {
    if (entry.frozen < HEAD + laid.lines.length) return;
    entry.frozen -= laid.lines.length;
    entry.goneLines += laid.lines.length;
    entry.gone += 1;
    entry.whole = undefined;
  }
}

function bringBack(entry: Entry): void {
  if (entry.gone === 0) return;
  entry.frozen += entry.goneLines;
  entry.gone = 0;
  entry.goneLines = 0;
  entry.laid.length = 0;
  entry.whole = undefined;
}

function markdownOf(block: Block): string | undefined {
  if (block.type === 'answer') return block.text;
  return block.type === 'page' && block.markdown === true ? block.text : undefined;
}

function isSettled(block: Block): boolean {
  if (block.type === 'answer' || block.type === 'thought') return block.settled;
  return block.type !== 'call' || (block.standing !== 'running' && block.standing !== 'waiting');
}
