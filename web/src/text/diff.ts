// Lines of a change with their numbers: parsed from a unified diff, or computed from two texts.

/** A line of a diff; a `gap` stands for lines that were left out, and has the text of its heading. */
export type DiffLine = {
  readonly kind: 'same' | 'added' | 'removed' | 'gap';
  readonly text: string;
  /** The line number before and after the change; absent where the position in the file is not known. */
  readonly before?: number;
  readonly after?: number;
};

/** The numbers of added and removed lines. */
export function countChanges(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  const count = (kind: DiffLine['kind']): number => lines.filter((line) => line.kind === kind).length;
  return { added: count('added'), removed: count('removed') };
}

const hunkPattern = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Whether a text is a unified diff. */
export const isUnifiedDiff = (text: string): boolean =>
  /^--- .*\n\+\+\+ /m.test(text) || text.split('\n').some((line) => hunkPattern.test(line));

/** Parses a unified diff. Lines before the first hunk are headers, except in a text without any hunk. */
export function parseUnifiedDiff(text: string): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let isInside = false;
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const hunk = hunkPattern.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      if (isInside || before > 1) lines.push({ kind: 'gap', text: '' });
      isInside = true;
    } else if (!isInside || line.startsWith('\\')) {
      if (/^\(.*\)$/.test(line)) lines.push({ kind: 'gap', text: line.slice(1, -1) });
    } else if (/^(?:--- |\+\+\+ )/.test(line) && isNextFile(line)) isInside = false;
    else if (line.startsWith('+')) lines.push({ kind: 'added', text: line.slice(1), after: after++ });
    else if (line.startsWith('-')) lines.push({ kind: 'removed', text: line.slice(1), before: before++ });
    else lines.push({ kind: 'same', text: line.slice(1), before: before++, after: after++ });
  }
  return lines;
}

/** A removed line may begin with dashes of its own: the header of a next file is `--- ` and a name. */
const isNextFile = (line: string): boolean => line.startsWith('+++ ');

/** Longer texts are shown as removed and added as a whole: comparing takes the product of their lengths. */
const maxComparedLines = 600;

/** Compares two texts. The position in a file is not known, so the lines have no numbers unless `start` is the first line. */
export function compareTexts(before: string, after: string, start?: number): readonly DiffLine[] {
  const [old, next] = [splitLines(before), splitLines(after)];
  if (old.length > maxComparedLines || next.length > maxComparedLines)
    return number([...old.map(toLine('removed')), ...next.map(toLine('added'))], start);
  const lengths = commonLengths(old, next);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < next.length) {
    const isSame = i < old.length && j < next.length && old[i] === next[j];
    const skipsOld = (lengths[i + 1]?.[j] ?? -1) >= (lengths[i]?.[j + 1] ?? -1);
    if (isSame) {
      lines.push({ kind: 'same', text: old[i] ?? '' });
      i++;
      j++;
    } else if (i < old.length && (j >= next.length || skipsOld)) lines.push({ kind: 'removed', text: old[i++] ?? '' });
    else lines.push({ kind: 'added', text: next[j++] ?? '' });
  }
  return number(lines, start);
}

const splitLines = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

const toLine =
  (kind: DiffLine['kind']) =>
  (text: string): DiffLine => ({ kind, text });

/** Adds line numbers, if the first one is known. */
function number(lines: readonly DiffLine[], start: number | undefined): readonly DiffLine[] {
  if (start === undefined) return lines;
  let [before, after] = [start, start];
  return lines.map((line) => ({
    ...line,
    ...(line.kind === 'added' ? {} : { before: before++ }),
    ...(line.kind === 'removed' ? {} : { after: after++ }),
  }));
}

/** The length of the longest common subsequence of the rest of both lists, from each pair of positions. */
function commonLengths(old: readonly string[], next: readonly string[]): readonly (readonly number[])[] {
  const lengths = Array.from({ length: old.length + 1 }, () => Array.from({ length: next.length + 1 }, () => 0));
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = next.length - 1; j >= 0; j--) {
      const [row, below] = [lengths[i] ?? [], lengths[i + 1] ?? []];
      row[j] = old[i] === next[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  return lengths;
}
