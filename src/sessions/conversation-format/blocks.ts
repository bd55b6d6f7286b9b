// Splits the editable conversation text into headed blocks with line numbers.
import { MESSAGE_PREFIX, PART_PREFIX } from './format-conversation.ts';

/** A parse error and its line, counted from 1. */
export type ConversationMistake = { readonly line: number; readonly message: string };

/** A heading and the text below it. */
export type ConversationBlock = {
  readonly kind: 'message' | 'part';
  readonly heading: readonly string[];
  readonly line: number;
  readonly body: readonly string[];
};

/** Parses the blocks of a text; reports text outside any block. */
export function parseBlocks(text: string): {
  readonly blocks: readonly ConversationBlock[];
  readonly mistakes: readonly ConversationMistake[];
} {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const blocks: (Omit<ConversationBlock, 'body'> & { readonly body: string[] })[] = [];
  const mistakes: ConversationMistake[] = [];
  for (const [i, line] of lines.entries()) {
    const kind = line.startsWith(MESSAGE_PREFIX.trim())
      ? 'message'
      : line.startsWith(PART_PREFIX.trim())
        ? 'part'
        : undefined;
    const last = blocks.at(-1);
    if (kind) {
      // One empty line above a message is formatting.
      if (kind === 'message' && last?.body.at(-1) === '') last.body.pop();
      const words = parseHeadingTokens(line.slice(kind === 'message' ? 3 : 2));
      if (!words) mistakes.push({ line: i + 1, message: 'A name in this heading is not closed by a quotation mark.' });
      blocks.push({ kind, heading: words ?? [], line: i + 1, body: [] });
    } else if (last) last.body.push(/^\\+%%/.test(line) ? line.slice(1) : line);
    else if (line.trim() !== '' && !line.startsWith('#'))
      mistakes.push({
        line: i + 1,
        message: 'This text is before the first message: put a heading such as "%%% user" above them.',
      });
  }
  return { blocks, mistakes };
}

/** Parses the words of a heading, including JSON strings; undefined if a string is not closed. */
function parseHeadingTokens(text: string): readonly string[] | undefined {
  const words: string[] = [];
  for (const [token] of text.matchAll(/"(?:\\.|[^"\\])*"?|[^\s"]+/g)) {
    if (!token.startsWith('"')) words.push(token);
    else
      try {
        words.push(JSON.parse(token) as string);
      } catch {
        return undefined;
      }
  }
  return words;
}
