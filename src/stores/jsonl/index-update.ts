// Takes lines into a chart: what each one changes in what is known of the file.
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

/** Adds a line that is what was written there. `pass` must follow. */
export function indexLine(chart: SessionFileIndex, line: TextLine, envelope: LineEnvelope, claim: string): void {
  const { text } = line;
  const stretch = extendSegment(chart, line, envelope.parent);
  if (hasEventType('epoch-started', text, envelope)) markEpoch(chart, stretch, line);
  else if (hasEventType('branch-started', text, envelope)) resolveEdits(chart, line);
  setLastEvent(chart, { seq: envelope.seq, id: envelope.id, time: readEventTime(text, envelope) }, claim);
}

/** Makes a sound line the one that the next line follows. */
export function setLastEvent(
  chart: SessionFileIndex,
  { seq, id, time }: Pick<Event, 'seq' | 'id' | 'time'>,
  claim: string,
): void {
  chart.events++;
  chart.seq = seq;
  chart.maxSeq = seq;
  chart.id = id;
  chart.time = time;
  chart.link = claim;
  chart.altHashes = noHashes;
  chart.hashLost = false;
}

const noHashes: readonly string[] = [];

/** Moves the chart's end behind a line. */
export function advancePast(chart: SessionFileIndex, next: number): void {
  chart.offset = next;
  chart.line++;
}

/** Lengthens the last stretch, or begins another where a line does not follow the one before it. */
export function extendSegment(
  chart: SessionFileIndex,
  { offset, next }: Pick<TextLine, 'offset' | 'next'>,
  parent: string | null,
): FileSegment {
  const last = chart.segments.at(-1);
  if (last && parent === chart.id) {
    last.to = next;
    return last;
  }
  const stretch: FileSegment = {
    from: offset,
    to: next,
    line: chart.line + 1,
    parent,
    parentEnd: undefined,
    epochs: [],
  };
  chart.segments.push(stretch);
  return stretch;
}

function markEpoch(chart: SessionFileIndex, stretch: FileSegment, { text, start, end, offset }: TextLine): void {
  const event = parseEventLine(text, start, end);
  if (event.type !== 'epoch-started' || !event.baseline) return;
  stretch.epochs.push(offset);
  chart.lastEpoch = toCursor(chart);
}

/** A branch that records an edit settles every edit before it. */
function resolveEdits(chart: SessionFileIndex, { text, start, end, offset }: TextLine): void {
  const event = parseEventLine(text, start, end);
  if (event.type !== 'branch-started' || event.reason !== 'edited') return;
  // Our ids begin with their seq: what lies before the event that is branched from is not taken up by the branch.
  const after = event.parent === null ? 0 : Number.parseInt(event.parent, 36);
  chart.editBranch = { offset, after, branch: event.id };
  for (const suspect of chart.modifiedLines)
    if (isInEditBranch(chart, suspect)) chart.problems.push(resolvedEditProblem(suspect, event.id));
  chart.modifiedLines = chart.modifiedLines.filter((suspect) => !isInEditBranch(chart, suspect));
  chart.problems.forEach((problem, i) => {
    if (problem.kind === 'header' && chart.header) chart.problems[i] = { ...problem, healed: true };
  });
}

/** Whether the last branch that records edits has taken this change up. */
export const isInEditBranch = ({ editBranch }: SessionFileIndex, { offset, before }: ModifiedLine): boolean =>
  editBranch !== undefined && offset < editBranch.offset && before.seq >= editBranch.after;

/** A change that a branch has taken up. */
export const resolvedEditProblem = (
  { line, offset }: Pick<ModifiedLine, 'line' | 'offset'>,
  branch: string,
): SessionFileProblem => ({
  kind: 'edited',
  line,
  offset,
  what: `Line ${line} was changed outside the program; the session goes on as the edited branch ${branch}.`,
  healed: true,
});
