// Finds, in a charted file, the lines that others follow from afar, and tells repeated events from changed ones.
import type { Chart, Stretch } from './chart.ts';
import type { Disk } from './disk.ts';
import { isTaken, takenUp } from './intake.ts';
import { envelopeAt, parse } from './line.ts';
import { blocksOf, eachLine } from './lines.ts';

/** Where a line ends and what it says. */
export type Place = { readonly next: number; readonly text: string };

/** The first lines with these ids in the charted part of a file, or in all of it. */
export function locate(
  disk: Disk,
  fd: number,
  chart: Chart,
  ids: ReadonlySet<string>,
  from: number = chart.base,
): ReadonlyMap<string, Place> {
  const found = new Map<string, Place>();
  const note = (id: string | undefined, next: number, text: string): void => {
    if (id !== undefined && ids.has(id) && !found.has(id)) found.set(id, { next, text: text.trim() });
  };
  for (const block of blocksOf(disk, fd, from, chart.offset)) {
    eachLine(block, ({ text, start, end, offset, next }) => {
      const hole = chart.holes.get(offset);
      for (const line of hole ?? []) note(envelopeAt(line, 0)?.id, next, line);
      const line = text.slice(start, end);
      if (!hole) note(envelopeAt(text, start)?.id ?? idIn(line), next, line);
    });
    if (found.size === ids.size) break;
  }
  return found;
}

function idIn(text: string): string | undefined {
  const value = parse(text) as { id?: unknown } | null | undefined;
  return typeof value?.id === 'string' ? value.id : undefined;
}

/** Lines with an id that was there before: the same event once more, or something a person put there. */
export function settleRepeats(chart: Chart, disk: Disk, fd: number): void {
  if (chart.repeats.length === 0) return;
  const places = locate(disk, fd, chart, new Set(chart.repeats.map(({ id }) => id)));
  for (const repeat of chart.repeats) {
    const { line, offset } = repeat;
    if (places.get(repeat.id)?.text === repeat.text) {
      const what = `Line ${line} repeats the event ${repeat.id}, which counts once.`;
      chart.problems.push({ kind: 'duplicate', line, offset, what });
      chart.events--;
    } else {
      chart.holes.delete(offset);
      if (chart.taken && isTaken(chart, repeat)) chart.problems.push(takenUp(repeat, chart.taken.branch));
      else chart.suspects.push(repeat);
    }
  }
  chart.repeats = [];
  chart.suspects.sort((a, b) => a.offset - b.offset);
}

/** Ties each stretch to the line it follows. A straight file has nothing to tie. */
export function settleLinks(chart: Chart, disk: Disk, fd: number): void {
  const loose = chart.stretches.filter(
    ({ parent, parentEnd, from }) =>
      parent !== null && parentEnd === undefined && !(chart.base > 0 && from === chart.base),
  );
  if (loose.length === 0) return;
  const places = locate(disk, fd, chart, new Set(loose.flatMap(({ parent }) => parent ?? [])));
  for (const stretch of loose) {
    const place = places.get(stretch.parent ?? '');
    if (place && place.next <= stretch.from) stretch.parentEnd = place.next;
    else if (chart.base > 0) chart.escapes = true;
    else tieToLineBefore(chart, stretch);
  }
}

function tieToLineBefore(chart: Chart, stretch: Stretch): void {
  const { line, from: offset, parent } = stretch;
  const known = [...chart.suspects, ...chart.problems.filter(({ kind }) => kind === 'edited')];
  if (!known.some((edit) => edit.line === line)) {
    const what = `Line ${line} follows the event ${parent}, which is not in the file; it is read as following the line before it.`;
    chart.problems.push({ kind: 'unlinked', line, offset, what });
  }
  const before = chart.stretches[chart.stretches.indexOf(stretch) - 1];
  if (!before) stretch.parent = null;
  stretch.parentEnd = before?.to;
}
