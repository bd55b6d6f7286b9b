// Splits a recorded session into facts that a replay derives again and facts that came from outside, such as input and decisions.
import { listRecordedCalls, type RecordedCall } from '../../agent/recording/index.ts';
import type { Event, Fact } from '../../core/index.ts';

/** A fact that the loop derives: what it does follows from the state, the answers of the model and the results of the tools. */
export type DerivedFact = Fact & {
  readonly type:
    | 'turn-started'
    | 'turn-ended'
    | 'turn-failed'
    | 'answer-rejected'
    | 'approval-requested'
    | 'tool-started'
    | 'tool-ended'
    | 'run-ended';
};

const derivedTypes: ReadonlySet<string> = new Set<DerivedFact['type']>([
  'turn-started',
  'turn-ended',
  'turn-failed',
  'answer-rejected',
  'approval-requested',
  'tool-started',
  'tool-ended',
  'run-ended',
]);

/** Whether a fact is of a type that the loop derives. */
export const isDerivedFact = <F extends Fact>(fact: F): fact is F & DerivedFact => derivedTypes.has(fact.type);

/** A recorded event that the loop derives. */
export type DerivedEvent = Event & DerivedFact;

/** A session, prepared for a replay. */
export type Recording = {
  /** All events of the branch, oldest first. */
  readonly path: readonly Event[];
  readonly derived: readonly DerivedEvent[];
  /** The events from outside before the first derived one, and after each of them. */
  readonly outside: readonly (readonly Event[])[];
  readonly calls: readonly RecordedCall[];
  /** Tools whose calls ran concurrently with others. */
  readonly concurrentTools: ReadonlySet<string>;
  /** Questions of tools that a client ran, by tool. */
  readonly clientTools: ReadonlyMap<string, string>;
};

/** Ends of a run that the state decides; the others depend on a clock, a price, a rule or the user. */
const derivedReasons: ReadonlySet<string> = new Set([
  'answered',
  'task-complete',
  'abstained',
  'truncated',
  'max-turns',
  'call-budget',
  'provider-error',
]);

/** Prepares the events of a branch, oldest first. */
export function createRecording(path: readonly Event[]): Recording {
  const clientCalls = new Set(
    path.flatMap((event) => (event.type === 'approval-requested' && event.kind === 'client-tool' ? [event.call] : [])),
  );
  const derived: DerivedEvent[] = [];
  const outside: Event[][] = [[]];
  path.forEach((event, i) => {
    if (isDerived(event, path, i, clientCalls)) {
      derived.push(event);
      outside.push([]);
    } else outside.at(-1)?.push(event);
  });
  const calls = listRecordedCalls(path);
  const toolOf = new Map(calls.map((call) => [call.id, call.tool]));
  return {
    path,
    derived,
    outside,
    calls,
    concurrentTools: findConcurrentTools(path, toolOf),
    clientTools: new Map(
      path.flatMap((event) =>
        event.type === 'approval-requested' && event.kind === 'client-tool'
          ? [[toolOf.get(event.call) ?? '', event.question] as const]
          : [],
      ),
    ),
  };
}

function isDerived(
  event: Event,
  path: readonly Event[],
  i: number,
  clientCalls: ReadonlySet<string>,
): event is DerivedEvent {
  if (!isDerivedFact(event)) return false;
  if (event.type === 'tool-ended') return !clientCalls.has(event.call) && !isEndedWithRun(path, i);
  if (event.type !== 'run-ended') return true;
  return derivedReasons.has(event.reason) && path[i - 1]?.type !== 'compaction-failed';
}

/** Whether a call was ended because something outside ended the run. */
function isEndedWithRun(path: readonly Event[], i: number): boolean {
  const end = path.slice(i).find(({ type }) => type !== 'tool-ended');
  const event = path[i];
  if (end?.type !== 'run-ended' || event?.type !== 'tool-ended' || derivedReasons.has(end.reason)) return false;
  return event.text === `Not finished: ${end.detail ?? end.reason}`;
}

/** A log does not say what effect a tool has; only reads run while another call is open, so the order of the events says it. */
function findConcurrentTools(path: readonly Event[], toolOf: ReadonlyMap<string, string>): ReadonlySet<string> {
  const found = new Set<string>();
  const open = new Set<string>();
  for (const event of path) {
    if (event.type === 'turn-started' || event.type === 'run-ended') open.clear();
    if (event.type !== 'tool-started' && event.type !== 'tool-ended') continue;
    for (const other of open) {
      if (other === event.call) continue;
      found.add(toolOf.get(other) ?? '');
      found.add(toolOf.get(event.call) ?? '');
    }
    if (event.type === 'tool-started') open.add(event.call);
    else open.delete(event.call);
  }
  return found;
}
