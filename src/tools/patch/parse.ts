// A unified patch as a list of what it does to each file, forgiving where models miscount lines and strict in everything else.
import { parsePatch, type StructuredPatch } from 'diff';
import { FairleadError, errorMessage, escapeInvisibleLine } from '../../core/index.ts';

/** What a patch does to one file: nothing before it is a new file, nothing after it a deleted one. */
export type FilePatch = {
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Whether the old file stays beside the new one. */
  readonly copies: boolean;
  readonly patch: StructuredPatch;
};

/** A refusal of a patch as a whole. */
export const patchError = (sentence: string): FairleadError =>
  new FairleadError('tool/bad-patch', `Nothing was changed: ${sentence}`, { blame: 'model' });

/** The files of a patch, each named once. */
export function parseFilePatches(text: string): readonly FilePatch[] {
  const files = parseStructured(text).filter(isMeaningful).map(toFilePatch);
  if (files.length === 0)
    throw patchError(
      'this is no unified patch. Begin each file with "--- a/path" and "+++ b/path", then hunks with "@@ -1,2 +1,3 @@".',
    );
  const names = files.flatMap(({ from, to }) => [...new Set([from, to])]).filter((name) => name !== undefined);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw patchError(`${escapeInvisibleLine(twice)} is named twice; put its hunks together.`);
  return files;
}

/** Words around a patch are read as one that does nothing to no file. */
const isMeaningful = ({ oldFileName, newFileName, hunks }: StructuredPatch): boolean =>
  oldFileName !== undefined || newFileName !== undefined || hunks.length > 0;

function parseStructured(text: string): readonly StructuredPatch[] {
  const whole = text.endsWith('\n') ? text : `${text}\n`;
  try {
    return parsePatch(whole);
  } catch {
    try {
      return parsePatch(recountHunks(whole));
    } catch (error) {
      throw patchError(`the patch cannot be read: ${errorMessage(error)}.`);
    }
  }
}

function toFilePatch(patch: StructuredPatch): FilePatch {
  const { oldFileName, newFileName, hunks, isBinary, isCopy, isCreate, isDelete } = patch;
  if (oldFileName === undefined || newFileName === undefined)
    throw patchError('a hunk does not say which file it is of; put "--- a/path" and "+++ b/path" before it.');
  const from = isCreate ? undefined : stripNamePrefix(oldFileName, 'a/', newFileName, 'b/');
  const to = isDelete ? undefined : stripNamePrefix(newFileName, 'b/', oldFileName, 'a/');
  const shown = escapeInvisibleLine(to ?? from ?? '');
  if (isBinary) throw patchError(`${shown} is not text.`);
  if (from === undefined && to === undefined) throw patchError('a file comes from nowhere and goes nowhere.');
  if (hunks.length === 0 && from === to) throw patchError(`there is no hunk for ${shown}.`);
  return { from, to, copies: isCopy === true, patch };
}

/** A name without the letters that git puts before both names; nothing for /dev/null. */
function stripNamePrefix(given: string, letter: string, other: string, otherLetter: string): string | undefined {
  if (given === '/dev/null') return undefined;
  const isMarked = given.startsWith(letter) && (other === '/dev/null' || other.startsWith(otherLetter));
  return isMarked ? given.slice(letter.length) : given;
}

/** The same patch with the number of lines in each hunk's heading as the hunk really has. */
function recountHunks(text: string): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const isNext = (line: string, i: number): boolean =>
    /^(?:@@ |diff --git )/.test(line) || (line.startsWith('--- ') && lines[i + 1]?.startsWith('+++ ') === true);
  const corrected = lines.map((line, i) => {
    const [, from, to] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line) ?? [];
    if (from === undefined || to === undefined) return line;
    const end = lines.findIndex((next, j) => j > i && isNext(next, j));
    const body = lines.slice(i + 1, end < 0 ? undefined : end);
    const count = (signs: string): number => body.filter((each) => signs.includes(each[0] ?? ' ')).length;
    return `@@ -${from},${count(' -')} +${to},${count(' +')} @@`;
  });
  return `${corrected.join('\n')}\n`;
}
