// Cuts an edited text into its headings and what stands below each, with line numbers to tell mistakes by.
import { MESSAGE, PART } from './conversation-text.ts';

/** Something that cannot be understood, and where. Lines count from 1. */
export type Mistake = { readonly line: number; readonly what: string };

/** A heading's words and the text below it. */
export type Block = {
  readonly kind: 'message' | 'part';
  readonly words: readonly string[];
  readonly line: number;
  readonly body: readonly string[];
};

/** The blocks of a text in order, and what stands where nothing can. */
export function blocksOf(text: string): { readonly blocks: readonly Block[]; readonly mistakes: readonly Mistake[] } {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const blocks: (Omit<Block, 'body'> & { readonly body: string[] })[] = [];
  const mistakes: Mistake[] = [];
  for (const [i, line] of lines.entries()) {
    const kind = line.startsWith(MESSAGE.trim()) ? 'message' : line.startsWith(PART.trim()) ? 'part' : undefined;
    const last = blocks.at(-1);
    if (kind) {
      // One empty line above a message is layout.
      if (kind === 'message' && last?.body.at(-1) === '') last.body.pop();
      const words = wordsOf(line.slice(kind === 'message' ? 3 : 2));
      if (!words) mistakes.push({ line: i + 1, what: 'A name in this heading is not closed by a quotation mark.' });
      blocks.push({ kind, words: words ?? [], line: i + 1, body: [] });
    } else if (last) last.body.push(/^\\+%%/.test(line) ? line.slice(1) : line);
    else if (line.trim() !== '' && !line.startsWith('#'))
      mistakes.push({
        line: i + 1,
        what: 'These words stand before the first message: put a heading such as "%%% user" above them.',
      });
  }
  return { blocks, mistakes };
}

/** The words of a heading, JSON strings read; nothing where one is not closed. */
function wordsOf(text: string): readonly string[] | undefined {
  const words: string[] = [];
  for (const [whole] of text.matchAll(/"(?:\\.|[^"\\])*"?|[^\s"]+/g)) {
    if (!whole.startsWith('"')) words.push(whole);
    else
      try {
        words.push(JSON.parse(whole) as string);
      } catch {
        return undefined;
      }
  }
  return words;
}
