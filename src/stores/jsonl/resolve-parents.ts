// Resolves the parents of branches in an indexed session file, and separates duplicated lines from edited ones.
import type { SessionFileIndex, FileSegment } from './file-index.ts';
import type { Disk } from './disk.ts';
import { isInEditBranch, resolvedEditProblem } from './index-update.ts';
import { readEnvelope } from './line.ts';
import { readTextBlocks, forEachLine } from './read-lines.ts';
import { tryParseJson } from '../try-parse-json.ts';

/** The end offset and the text of a line. */
export type LineLocation = { readonly next: number; readonly text: string };

/** The first lines with these ids, from the start of the indexed part or from another offset. */
export function locateLines(
  disk: Disk,
  fd: number,
  index: SessionFileIndex,
  ids: ReadonlySet<string>,
  from: number = index.indexedFrom,
): ReadonlyMap<string, LineLocation> {
  const found = new Map<string, LineLocation>();
  const add = (id: string | undefined, next: number, text: string): void => {
    if (id !== undefined && ids.has(id) && !found.has(id)) found.set(id, { next, text: text.trim() });
  };
  for (const block of readTextBlocks(disk, fd, from, index.offset)) {
    forEachLine(block, ({ text, start, end, offset, next }) => {
      const replaced = index.replacedLines.get(offset);
      for (const line of replaced ?? []) add(readEnvelope(line, 0)?.id, next, line);
      const line = text.slice(start, end);
      if (!replaced) add(readEnvelope(text, start)?.id ?? parseEventId(line), next, line);
    });
    if (found.size === ids.size) break;
  }
  return found;
}

function parseEventId(text: string): string | undefined {
  const value = tryParseJson(text) as { id?: unknown } | null | undefined;
  return typeof value?.id === 'string' ? value.id : undefined;
}

/** Decides about lines that duplicate an id: the same event again, or a line that the user inserted. */
export function resolveDuplicates(index: SessionFileIndex, disk: Disk, fd: number): void {
  if (index.duplicates.length === 0) return;
  const locations = locateLines(disk, fd, index, new Set(index.duplicates.map(({ id }) => id)));
  for (const duplicate of index.duplicates) {
    const { line, offset } = duplicate;
    if (locations.get(duplicate.id)?.text === duplicate.text) {
      const message = `Line ${line} repeats the event ${duplicate.id}, which counts once.`;
      index.problems.push({ kind: 'duplicate', line, offset, message });
      index.events--;
    } else {
      index.replacedLines.delete(offset);
      if (index.editBranch && isInEditBranch(index, duplicate))
        index.problems.push(resolvedEditProblem(duplicate, index.editBranch.branch));
      else index.modifiedLines.push(duplicate);
    }
  }
  index.duplicates = [];
  index.modifiedLines.sort((a, b) => a.offset - b.offset);
}

/** Finds the line that each segment follows. A file without branches has nothing to resolve. */
export function resolveParents(index: SessionFileIndex, disk: Disk, fd: number): void {
  const unresolved = index.segments.filter(
    ({ parent, parentEnd, from }) =>
      parent !== null && parentEnd === undefined && !(index.indexedFrom > 0 && from === index.indexedFrom),
  );
  if (unresolved.length === 0) return;
  const locations = locateLines(disk, fd, index, new Set(unresolved.flatMap(({ parent }) => parent ?? [])));
  for (const segment of unresolved) {
    const location = locations.get(segment.parent ?? '');
    if (location && location.next <= segment.from) segment.parentEnd = location.next;
    else if (index.indexedFrom > 0) index.leavesIndexedPart = true;
    else attachToPreviousLine(index, segment);
  }
}

function attachToPreviousLine(index: SessionFileIndex, segment: FileSegment): void {
  const { line, from: offset, parent } = segment;
  const known = [...index.modifiedLines, ...index.problems.filter(({ kind }) => kind === 'edited')];
  if (!known.some((edit) => edit.line === line)) {
    const message = `Line ${line} follows the event ${parent}, which is not in the file; it is read as following the line before it.`;
    index.problems.push({ kind: 'unlinked', line, offset, message });
  }
  const before = index.segments[index.segments.indexOf(segment) - 1];
  if (!before) segment.parent = null;
  segment.parentEnd = before?.to;
}
