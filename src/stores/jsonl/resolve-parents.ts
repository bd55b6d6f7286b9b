// Finds, in a charted file, the lines that others follow from afar, and tells repeated events from changed ones.
import type { SessionFileIndex, FileSegment } from './file-index.ts';
import type { Disk } from './disk.ts';
import { isInEditBranch, resolvedEditProblem } from './index-update.ts';
import { readEnvelope, tryParseJson } from './line.ts';
import { readTextBlocks, forEachLine } from './read-lines.ts';

/** Where a line ends and what it says. */
export type LineLocation = { readonly next: number; readonly text: string };

/** The first lines with these ids in the charted part of a file, or in all of it. */
export function locateLines(
  disk: Disk,
  fd: number,
  chart: SessionFileIndex,
  ids: ReadonlySet<string>,
  from: number = chart.indexedFrom,
): ReadonlyMap<string, LineLocation> {
  const found = new Map<string, LineLocation>();
  const note = (id: string | undefined, next: number, text: string): void => {
    if (id !== undefined && ids.has(id) && !found.has(id)) found.set(id, { next, text: text.trim() });
  };
  for (const block of readTextBlocks(disk, fd, from, chart.offset)) {
    forEachLine(block, ({ text, start, end, offset, next }) => {
      const hole = chart.replacedLines.get(offset);
      for (const line of hole ?? []) note(readEnvelope(line, 0)?.id, next, line);
      const line = text.slice(start, end);
      if (!hole) note(readEnvelope(text, start)?.id ?? parseEventId(line), next, line);
    });
    if (found.size === ids.size) break;
  }
  return found;
}

function parseEventId(text: string): string | undefined {
  const value = tryParseJson(text) as { id?: unknown } | null | undefined;
  return typeof value?.id === 'string' ? value.id : undefined;
}

/** Lines with an id that was there before: the same event once more, or something a person put there. */
export function resolveDuplicates(chart: SessionFileIndex, disk: Disk, fd: number): void {
  if (chart.duplicates.length === 0) return;
  const places = locateLines(disk, fd, chart, new Set(chart.duplicates.map(({ id }) => id)));
  for (const repeat of chart.duplicates) {
    const { line, offset } = repeat;
    if (places.get(repeat.id)?.text === repeat.text) {
      const what = `Line ${line} repeats the event ${repeat.id}, which counts once.`;
      chart.problems.push({ kind: 'duplicate', line, offset, what });
      chart.events--;
    } else {
      chart.replacedLines.delete(offset);
      if (chart.editBranch && isInEditBranch(chart, repeat))
        chart.problems.push(resolvedEditProblem(repeat, chart.editBranch.branch));
      else chart.modifiedLines.push(repeat);
    }
  }
  chart.duplicates = [];
  chart.modifiedLines.sort((a, b) => a.offset - b.offset);
}

/** Ties each stretch to the line it follows. A straight file has nothing to tie. */
export function resolveParents(chart: SessionFileIndex, disk: Disk, fd: number): void {
  const loose = chart.segments.filter(
    ({ parent, parentEnd, from }) =>
      parent !== null && parentEnd === undefined && !(chart.indexedFrom > 0 && from === chart.indexedFrom),
  );
  if (loose.length === 0) return;
  const places = locateLines(disk, fd, chart, new Set(loose.flatMap(({ parent }) => parent ?? [])));
  for (const stretch of loose) {
    const place = places.get(stretch.parent ?? '');
    if (place && place.next <= stretch.from) stretch.parentEnd = place.next;
    else if (chart.indexedFrom > 0) chart.leavesIndexedPart = true;
    else attachToPreviousLine(chart, stretch);
  }
}

function attachToPreviousLine(chart: SessionFileIndex, stretch: FileSegment): void {
  const { line, from: offset, parent } = stretch;
  const known = [...chart.modifiedLines, ...chart.problems.filter(({ kind }) => kind === 'edited')];
  if (!known.some((edit) => edit.line === line)) {
    const what = `Line ${line} follows the event ${parent}, which is not in the file; it is read as following the line before it.`;
    chart.problems.push({ kind: 'unlinked', line, offset, what });
  }
  const before = chart.segments[chart.segments.indexOf(stretch) - 1];
  if (!before) stretch.parent = null;
  stretch.parentEnd = before?.to;
}
