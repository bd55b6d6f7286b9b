// Parses a unified patch: tolerant of wrong line counts in hunk headers, strict in everything else.
import { parsePatch, type StructuredPatch } from 'diff';
import { FairleadError, errorMessage, escapeInvisibleLine } from '../../core/index.ts';

/** The change of one file: `from` is undefined for a new file, `to` for a deleted one. */
export type FilePatch = {
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** True if the old file stays. */
  readonly copies: boolean;
  readonly patch: StructuredPatch;
};

/** Creates the error that rejects a complete patch. */
export const patchError = (sentence: string): FairleadError =>
  new FairleadError('tool/bad-patch', `Nothing was changed: ${sentence}`, { blame: 'model' });

/** Returns the file patches. Throws if a file occurs twice. */
export function parseFilePatches(text: string): readonly FilePatch[] {
  const files = parseStructured(text).filter(isMeaningful).map(toFilePatch);
  if (files.length === 0)
    throw patchError(
      'this is not a unified patch. Start each file with "--- a/path" and "+++ b/path", then hunks with "@@ -1,2 +1,3 @@".',
    );
  const names = files.flatMap(({ from, to }) => [...new Set([from, to])]).filter((name) => name !== undefined);
  const seen = new Set<string>();
  const twice = names.find((name) => seen.size === seen.add(name).size);
  if (twice !== undefined) throw patchError(`${escapeInvisibleLine(twice)} is named twice; put its hunks together.`);
  return files;
}

/** Text around a patch is parsed as a patch without file and hunks. */
const isMeaningful = ({ oldFileName, newFileName, hunks }: StructuredPatch): boolean =>
  oldFileName !== undefined || newFileName !== undefined || hunks.length > 0;

function parseStructured(text: string): readonly StructuredPatch[] {
  const patchText = text.endsWith('\n') ? text : `${text}\n`;
  try {
    return parsePatch(patchText);
  } catch {
    try {
      return parsePatch(recountHunks(patchText));
    } catch (error) {
      throw patchError(`the patch cannot be parsed: ${errorMessage(error)}.`);
    }
  }
}

function toFilePatch(patch: StructuredPatch): FilePatch {
  const { oldFileName, newFileName, hunks, isBinary, isCopy, isCreate, isDelete } = patch;
  if (oldFileName === undefined || newFileName === undefined)
    throw patchError('a hunk has no file name; put "--- a/path" and "+++ b/path" before it.');
  const from = isCreate ? undefined : stripNamePrefix(oldFileName, 'a/', newFileName, 'b/');
  const to = isDelete ? undefined : stripNamePrefix(newFileName, 'b/', oldFileName, 'a/');
  const shown = escapeInvisibleLine(to ?? from ?? '');
  if (isBinary) throw patchError(`${shown} is not text.`);
  if (from === undefined && to === undefined) throw patchError('a file has neither an old nor a new name.');
  if (hunks.length === 0 && from === to) throw patchError(`there is no hunk for ${shown}.`);
  return { from, to, copies: isCopy === true, patch };
}

/** Removes the a/ and b/ prefixes of git; undefined for /dev/null. */
function stripNamePrefix(given: string, letter: string, other: string, otherLetter: string): string | undefined {
  if (given === '/dev/null') return undefined;
  const isMarked = given.startsWith(letter) && (other === '/dev/null' || other.startsWith(otherLetter));
  return isMarked ? given.slice(letter.length) : given;
}

/** Corrects the line counts in hunk headers. */
function recountHunks(text: string): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const isNext = (line: string, i: number): boolean =>
    /^(?:@@ |diff --git )/.test(line) || (line.startsWith('--- ') && lines[i + 1]?.startsWith('+++ ') === true);
  // The next header after each line, found from the end: searching from each header would be quadratic.
  const ends: number[] = [];
  for (let i = lines.length - 1, end = lines.length; i >= 0; i--) {
    ends[i] = end;
    if (isNext(lines[i] ?? '', i)) end = i;
  }
  const corrected = lines.map((line, i) => {
    const [, from, to] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line) ?? [];
    if (from === undefined || to === undefined) return line;
    const body = lines.slice(i + 1, ends[i]);
    const count = (signs: string): number => body.filter((each) => signs.includes(each[0] ?? ' ')).length;
    return `@@ -${from},${count(' -')} +${to},${count(' +')} @@`;
  });
  return `${corrected.join('\n')}\n`;
}
