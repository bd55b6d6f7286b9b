// Reads a text file, whole or by lines, as it is: what is shown may be copied into an edit.
import { output, visible, type Output, type Tool, type Workspace } from '../core/index.ts';
import { textAt } from './text.ts';

const mostLines = 2000;
const mostLetters = 50_000;

/** The tool that reads files. */
export const readFile = (workspace: Workspace): Tool => ({
  name: 'read_file',
  description: 'Read a text file. Long files come in pieces: go on with offset.',
  input: {
    type: 'object',
    properties: {
      path: { type: 'string' },
      offset: { type: 'integer', minimum: 1, description: 'First line, from 1.' },
      limit: { type: 'integer', minimum: 1, description: 'Number of lines.' },
    },
    required: ['path'],
    additionalProperties: false,
  },
  effect: 'read',
  async run(input) {
    const { path, offset = 1, limit = mostLines } = input as { path: string; offset?: number; limit?: number };
    const { text, content } = await textAt(workspace, path);
    return excerpt(text, offset, limit, { path: content.path, hash: content.hash });
  },
});

type Source = { readonly path: string; readonly hash: string };

function excerpt(text: string, offset: number, limit: number, source: Source): Output {
  if (text === '') return output({ text: '(The file is empty.)', data: { ...source, lines: 0 } });
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (offset > lines.length)
    return output({ failed: true, text: `There is no line ${offset}: the file has ${lines.length} lines.` });
  const { shown, cut } = fit(lines.slice(offset - 1, offset - 1 + Math.min(limit, mostLines)));
  const end = offset + shown.length - 1;
  const body = shown.join('\n');
  const safe = visible(body);
  const remarks = [
    ...(cut ? [`Line ${end} is very long and was cut.`] : []),
    ...(safe === body ? [] : ['Characters that do not show are written out, as <U+…> or ␛.']),
    ...(offset === 1 && end === lines.length ? [] : [`Lines ${offset}-${end} of ${lines.length}.`]),
    ...(end < lines.length ? [`Go on with offset ${end + 1}.`] : []),
  ];
  const tail = remarks.length ? `\n[${remarks.join(' ')}]` : '';
  return output({ text: safe + tail, data: { ...source, from: offset, to: end, lines: lines.length } });
}

/** As many whole lines as fit; of a first line that alone is too long, its beginning. */
function fit(lines: readonly string[]): { readonly shown: readonly string[]; readonly cut: boolean } {
  let room = mostLetters;
  const count = lines.findIndex((line) => (room -= line.length + 1) < 0);
  if (count < 0) return { shown: lines, cut: false };
  if (count > 0) return { shown: lines.slice(0, count), cut: false };
  return { shown: [(lines[0] ?? '').slice(0, mostLetters)], cut: true };
}
