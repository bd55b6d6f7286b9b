// Labels the parts of an input of the user: what was typed is the user's; attached files, piped text and other blocks of outside text are of third parties.
import type { MessagePart } from '../../core/index.ts';
import { unreadableText } from './flow-log.ts';
import type { FlowEntry } from './flow-state.ts';
import type { FlowSource } from './types.ts';

const opening = '<outside-text from=';
const closing = '\n</outside-text>';
/** Piped text is the end of a prompt, between marks that it does not contain. */
const pipedOpening = /\n\n<(stdin(?:-\d{1,9})?)>\n/;

/** Returns the entries of an input. */
export function readInput(parts: readonly MessagePart[], input: string): readonly FlowEntry[] {
  const entries: FlowEntry[] = [];
  const untrusted = (text: string, tool: string): void => {
    if (text.trim() !== '') entries.push({ type: 'untrusted', text, source: { tool, call: input } });
  };
  let typed = '';
  for (const part of parts) {
    if (part.type === 'file') untrusted(unreadableText, 'an attached file');
    if (part.type !== 'text' && part.type !== 'tool-result') continue;
    typed += typed === '' ? '' : '\n';
    typed += splitBlocks(cutPiped(part.text, untrusted), untrusted);
  }
  return typed.trim() === '' ? entries : [...entries, { type: 'user', text: typed }];
}

/** What the user typed of a text, without its blocks of outside text and piped text, and whether it has any. */
export function splitTyped(text: string): { readonly typed: string; readonly hasUntrusted: boolean } {
  const entries = readInput([{ type: 'text', text }], '');
  return {
    typed: entries.flatMap((entry) => (entry.type === 'user' ? [entry.text] : [])).join('\n'),
    hasUntrusted: entries.some(({ type }) => type === 'untrusted'),
  };
}

/** Returns what stands before piped text. */
function cutPiped(text: string, onBlock: (text: string, source: string) => void): string {
  const found = pipedOpening.exec(text);
  const close = `\n</${found?.[1]}>`;
  if (!found || !text.endsWith(close)) return text;
  onBlock(text.slice(found.index, -close.length), 'standard input');
  return text.slice(0, found.index);
}

/** Returns what stands outside of blocks. A block without an end reaches to the end of the text. */
function splitBlocks(text: string, onBlock: (text: string, source: string) => void): string {
  let outside = '';
  let at = 0;
  for (;;) {
    const start = text.indexOf(opening, at);
    if (start < 0) return outside + text.slice(at);
    outside += text.slice(at, start);
    const header = text.indexOf('\n', start);
    const end = header < 0 ? -1 : text.indexOf(closing, header);
    const source = header < 0 ? '' : text.slice(start + opening.length, header).replace(/>$/, '');
    onBlock(text.slice(header < 0 ? start : header, end < 0 ? undefined : end), readSource(source));
    if (end < 0) return outside;
    at = end + closing.length;
  }
}

function readSource(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return 'an attachment';
  }
}

/** The entry of files that came with a result. */
export const readFiles = (source: FlowSource): FlowEntry => ({ type: 'untrusted', text: unreadableText, source });
