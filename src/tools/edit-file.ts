// The edit_file tool: replaces an exact text that occurs once. Line endings and all other text stay unchanged.
import { toolOutput, type ToolOutput, type Tool, type Workspace } from '../core/index.ts';
import { lastReadOf } from './last-read.ts';
import { fileChangeOutput } from './file-change.ts';
import { findSimilarRegion } from './fuzzy-match.ts';
import { isCrlf, readTextFile } from './text.ts';

/** The input of edit_file. */
export type EditInput = {
  readonly path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean;
};

/** Creates the edit_file tool. */
export const editFile = (workspace: Workspace): Tool => ({
  name: 'edit_file',
  description:
    'Replace text in a file that was read before. old_string must match exactly, indentation included, and only once unless replace_all is set.',
  input: {
    type: 'object',
    properties: {
      path: { type: 'string' },
      old_string: { type: 'string', minLength: 1 },
      new_string: { type: 'string' },
      replace_all: { type: 'boolean' },
    },
    required: ['path', 'old_string', 'new_string'],
    additionalProperties: false,
  },
  effect: 'write',
  untrustedOutput: true,
  async execute(input, { state }) {
    const edit = input as EditInput;
    const { text, content } = await readTextFile(workspace, edit.path, { unseen: true });
    const edited = applyEdit(content.text, edit);
    if (edited === 'no-match') return noMatchOutput(edit, text);
    if ('failure' in edited) return failedOutput(edited.failure);
    const { after, count } = edited;
    const change = await workspace.write(edit.path, after, {
      over: content.hash,
      ...lastReadOf(state, content.path),
    });
    const times = count === 1 ? '' : ` in ${count} places`;
    return fileChangeOutput(`Edited ${edit.path}${times}.`, change, { path: edit.path, before: content.text, after });
  },
});

/** Applies an edit to the text of a file; otherwise says why nothing is changed. */
export function applyEdit(
  text: string,
  edit: EditInput,
): { readonly after: string; readonly count: number } | { readonly failure: string } | 'no-match' {
  const found = findEditMatch(text, edit);
  if (!found) return 'no-match';
  if (found.count > 1 && !edit.replace_all)
    return {
      failure: `old_string matches ${found.count} times in ${edit.path}, so nothing was changed. Add lines around it, or set replace_all.`,
    };
  if (found.old === found.new) return { failure: 'old_string and new_string are the same, so nothing was changed.' };
  return { after: text.split(found.old).join(found.new), count: found.count };
}

const failedOutput = (text: string): ToolOutput => toolOutput({ failed: true, text });

type EditMatch = { readonly old: string; readonly new: string; readonly count: number };

/** Converts the edit to the file's own form: its line endings, and unescaped invisible characters. */
function findEditMatch(text: string, edit: EditInput): EditMatch | undefined {
  const toCrlf = (value: string): string => value.replaceAll(/\r?\n/g, '\r\n');
  const unchanged = (value: string): string => value;
  const lineEndingConverters: readonly ((value: string) => string)[] = isCrlf(text) ? [toCrlf] : [unchanged, toCrlf];
  for (const decode of [unchanged, unescapeVisible])
    for (const convertLineEndings of lineEndingConverters) {
      const old = convertLineEndings(decode(edit.old_string));
      const count = text.split(old).length - 1;
      if (count > 0) return { old, new: convertLineEndings(decode(edit.new_string)), count };
    }
  return undefined;
}

/** Reading escapes invisible characters. This converts them back. */
const unescapeVisible = (text: string): string =>
  text
    .replaceAll(/<U\+([0-9A-F]{4,6})>/g, (match, hex: string) => {
      const code = Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : match;
    })
    .replaceAll(/[␀-␟]/g, (symbol) => String.fromCharCode(symbol.charCodeAt(0) - 0x2400))
    .replaceAll('␡', '\u007f');

function noMatchOutput(edit: EditInput, text: string): ToolOutput {
  const similar = findSimilarRegion(text, edit.old_string);
  if (!similar)
    return failedOutput(
      `old_string is not in ${edit.path}, nor any similar text; nothing was changed. Read the file again.`,
    );
  return failedOutput(
    `old_string is not in ${edit.path}, so nothing was changed. The most similar text is at lines ${similar.from}-${similar.to}:\n${similar.text}`,
  );
}
