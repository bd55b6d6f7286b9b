// Adds lines to the index of a session file.
import type { Event } from '../../core/index.ts';
import {
  toCursor,
  type SessionFileIndex,
  type SessionFileProblem,
  type FileSegment,
  type ModifiedLine,
} from './file-index.ts';
import { parseEventLine, hasEventType, readEventTime, type LineEnvelope } from './line.ts';
import type { TextLine } from './read-lines.ts';

/** Adds a valid line. The caller must then call `advancePast`. */
export function indexLine(index: SessionFileIndex, line: TextLine, envelope: LineEnvelope, ownHash: string): void {
  const { text } = line;
  const segment = extendSegment(index, line, envelope.parent);
  if (hasEventType('epoch-started', text, envelope)) markEpoch(index, segment, line);
  else if (hasEventType('branch-started', text, envelope)) resolveEdits(index, line);
  setLastEvent(index, { seq: envelope.seq, id: envelope.id, time: readEventTime(text, envelope) }, ownHash);
}

/** Makes an event the one that the next line follows. */
export function setLastEvent(
  index: SessionFileIndex,
  { seq, id, time }: Pick<Event, 'seq' | 'id' | 'time'>,
  ownHash: string,
): void {
  index.events++;
  index.seq = seq;
  index.maxSeq = seq;
  index.id = id;
  index.time = time;
  index.link = ownHash;
  index.altHashes = noHashes;
  index.hashLost = false;
}

const noHashes: readonly string[] = [];

/** Moves the end of the index past a line. */
export function advancePast(index: SessionFileIndex, next: number): void {
  index.offset = next;
  index.line++;
}

/** Extends the last segment, or starts a new one if the line does not follow the one before it. */
export function extendSegment(
  index: SessionFileIndex,
  { offset, next }: Pick<TextLine, 'offset' | 'next'>,
  parent: string | null,
): FileSegment {
  const last = index.segments.at(-1);
  if (last && parent === index.id) {
    last.to = next;
    return last;
  }
  const segment: FileSegment = {
    from: offset,
    to: next,
    line: index.line + 1,
    parent,
    parentEnd: undefined,
    epochs: [],
  };
  index.segments.push(segment);
  return segment;
}

function markEpoch(index: SessionFileIndex, segment: FileSegment, { text, start, end, offset }: TextLine): void {
  const event = parseEventLine(text, start, end);
  if (event.type !== 'epoch-started' || !event.baseline) return;
  segment.epochs.push(offset);
  index.lastEpoch = toCursor(index);
}

/** A branch that records an edit resolves every edit before it. */
function resolveEdits(index: SessionFileIndex, { text, start, end, offset }: TextLine): void {
  const event = parseEventLine(text, start, end);
  if (event.type !== 'branch-started' || event.reason !== 'edited') return;
  // Ids begin with their seq: lines before the event that is branched from are not part of the branch.
  const after = event.parent === null ? 0 : Number.parseInt(event.parent, 36);
  index.editBranch = { offset, after, branch: event.id };
  for (const line of index.modifiedLines)
    if (isInEditBranch(index, line)) index.problems.push(resolvedEditProblem(line, event.id));
  index.modifiedLines = index.modifiedLines.filter((line) => !isInEditBranch(index, line));
  index.problems.forEach((problem, i) => {
    if (problem.kind === 'header' && index.header) index.problems[i] = { ...problem, resolved: true };
  });
}

/** Whether the last branch that records edits includes this change. */
export const isInEditBranch = ({ editBranch }: SessionFileIndex, { offset, before }: ModifiedLine): boolean =>
  editBranch !== undefined && offset < editBranch.offset && before.seq >= editBranch.after;

/** The problem of a change that a branch has recorded. */
export const resolvedEditProblem = (
  { line, offset }: Pick<ModifiedLine, 'line' | 'offset'>,
  branch: string,
): SessionFileProblem => ({
  kind: 'edited',
  line,
  offset,
  message: `Line ${line} was changed outside the program; the session continues on the edited branch ${branch}.`,
  resolved: true,
});
