// Takes lines into a chart: what each one changes in what is known of the file.
import type { Event } from '../../core/index.ts';
import { spotOf, type Chart, type Problem, type Stretch, type Suspect } from './chart.ts';
import { eventAt, isTypeAt, timeAt, type Envelope } from './line.ts';
import type { Line } from './lines.ts';

/** Adds a line that is what was written there. `pass` must follow. */
export function accept(chart: Chart, line: Line, envelope: Envelope, claim: string): void {
  const { text } = line;
  const stretch = extend(chart, line, envelope.parent);
  if (isTypeAt('epoch-started', text, envelope)) markEpoch(chart, stretch, line);
  else if (isTypeAt('branch-started', text, envelope)) closeEdits(chart, line);
  place(chart, { seq: envelope.seq, id: envelope.id, time: timeAt(text, envelope) }, claim);
}

/** Makes a sound line the one that the next line follows. */
export function place(chart: Chart, { seq, id, time }: Pick<Event, 'seq' | 'id' | 'time'>, claim: string): void {
  chart.events++;
  chart.seq = seq;
  chart.top = seq;
  chart.id = id;
  chart.time = time;
  chart.link = claim;
  chart.others = none;
  chart.lost = false;
}

const none: readonly string[] = [];

/** Moves the chart's end behind a line. */
export function pass(chart: Chart, next: number): void {
  chart.offset = next;
  chart.line++;
}

/** Lengthens the last stretch, or begins another where a line does not follow the one before it. */
export function extend(chart: Chart, { offset, next }: Pick<Line, 'offset' | 'next'>, parent: string | null): Stretch {
  const last = chart.stretches.at(-1);
  if (last && parent === chart.id) {
    last.to = next;
    return last;
  }
  const stretch: Stretch = { from: offset, to: next, line: chart.line + 1, parent, parentEnd: undefined, epochs: [] };
  chart.stretches.push(stretch);
  return stretch;
}

function markEpoch(chart: Chart, stretch: Stretch, { text, start, end, offset }: Line): void {
  const event = eventAt(text, start, end);
  if (event.type !== 'epoch-started' || !event.baseline) return;
  stretch.epochs.push(offset);
  chart.epoch = spotOf(chart);
}

/** A branch that records an edit settles every edit before it. */
function closeEdits(chart: Chart, { text, start, end, offset }: Line): void {
  const event = eventAt(text, start, end);
  if (event.type !== 'branch-started' || event.reason !== 'edited') return;
  // Our ids begin with their seq: what lies before the event that is branched from is not taken up by the branch.
  const after = event.parent === null ? 0 : Number.parseInt(event.parent, 36);
  chart.taken = { offset, after, branch: event.id };
  for (const suspect of chart.suspects) if (isTaken(chart, suspect)) chart.problems.push(takenUp(suspect, event.id));
  chart.suspects = chart.suspects.filter((suspect) => !isTaken(chart, suspect));
  chart.problems.forEach((problem, i) => {
    if (problem.kind === 'header' && chart.header) chart.problems[i] = { ...problem, healed: true };
  });
}

/** Whether the last branch that records edits has taken this change up. */
export const isTaken = ({ taken }: Chart, { offset, before }: Suspect): boolean =>
  taken !== undefined && offset < taken.offset && before.seq >= taken.after;

/** A change that a branch has taken up. */
export const takenUp = ({ line, offset }: Pick<Suspect, 'line' | 'offset'>, branch: string): Problem => ({
  kind: 'edited',
  line,
  offset,
  what: `Line ${line} was changed outside the program; the session goes on as the edited branch ${branch}.`,
  healed: true,
});
