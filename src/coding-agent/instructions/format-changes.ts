// Formats changed instruction files for the user: the question, and unified diffs without invisible characters.
import { escapeInvisible, escapeInvisibleLine } from '../../core/index.ts';
import { createUnifiedDiff } from '../../tools/index.ts';
import type { InstructionChange } from './review.ts';

/** The maximum number of lines that a question shows. */
export const maxShownLines = 200;
const maxLineChars = 1000;

/** The question about changed files; their names and diffs are the detail. */
export const changeQuestion = 'The instructions of this project changed. Use the new text? No keeps the earlier text.';

/** The names of the files and their diffs, of which at most `maxLines` lines are shown; the last line says how many are not. */
export async function formatInstructionChanges(
  changes: readonly InstructionChange[],
  maxLines: number = maxShownLines,
): Promise<string> {
  const diffs = await Promise.all(changes.map(formatDiff));
  const lines = diffs.flatMap((diff) => escapeInvisible(diff).replace(/\n$/, '').split('\n'));
  const names = changes.map(({ file }) => escapeInvisibleLine(file)).join('\n');
  const shown = lines.slice(0, maxLines).map((line) => truncateLine(line, maxLines));
  const hidden = lines.length - shown.length;
  const rest = `[${hidden} more lines are not shown. To read them, answer no and run "fairlead trust".]`;
  return [names, '', ...shown, ...(hidden > 0 ? [rest] : [])].join('\n');
}

/** Texts that cannot be compared in time are shown in full: nothing may count without being shown. */
const formatDiff = async ({ file, before = '', after }: InstructionChange): Promise<string> =>
  (await createUnifiedDiff({ path: file, before, after })) ??
  [`--- ${escapeInvisibleLine(file)}`, ...prefixLines('-', before), ...prefixLines('+', after)].join('\n');

const prefixLines = (sign: string, text: string): readonly string[] => text.split('\n').map((line) => `${sign}${line}`);

const truncateLine = (line: string, maxLines: number): string =>
  line.length <= maxLineChars || maxLines === Infinity
    ? line
    : `${line.slice(0, maxLineChars)} [${line.length - maxLineChars} more characters of this line are not shown]`;
