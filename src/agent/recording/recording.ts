// Continues a recorded session at a turn: the events before it are taken from the recording, and what follows is live or recorded.
import { branchOfLastEvent, FairleadError, type Event, type ResolvedAgent } from '../../core/index.ts';
import { memoryLog, type MemoryLog } from '../../stores/index.ts';
import { Session } from '../session.ts';
import { withRecordedResults, type RecordedResults } from './recorded-results.ts';

/** Returns the events before a turn, as a log of their own. Throws if the recording has no such turn. */
export function cutBeforeTurn(events: readonly Event[], turn: number): readonly Event[] {
  const path = branchOfLastEvent(events);
  // A turn that failed is started again under the same number: the first start counts.
  const end = path.findIndex((event) => event.type === 'turn-started' && event.turn === turn);
  if (end === -1) throw noTurnError(path, turn);
  const ids = new Map(path.map(({ id }, i) => [id, (i + 1).toString(36)]));
  return path.slice(0, end).map((event, i): Event => {
    const moved = {
      ...event,
      seq: i + 1,
      id: (i + 1).toString(36),
      parent: i === 0 ? null : i.toString(36),
    };
    return moved.type === 'branch-started' ? { ...moved, from: ids.get(moved.from) ?? moved.from } : moved;
  });
}

function noTurnError(path: readonly Event[], turn: number): FairleadError {
  const turns = path.flatMap((event) => (event.type === 'turn-started' ? [event.turn] : []));
  const [first] = turns;
  return new FairleadError('session/no-turn', `The session has no turn ${turn}.`, {
    blame: 'user',
    hint: first === undefined ? 'It has no turn at all.' : `It has the turns ${first} to ${turns.at(-1)}.`,
  });
}

/** A session that continues a recording, in memory, and the log with the recorded events and the new ones. */
export type ContinuedSession = {
  readonly session: Session;
  readonly log: MemoryLog;
  /** The number of recorded events at the start of the log. */
  readonly recorded: number;
};

/** Opens a session at the point before a turn of a recording, for this agent. Results that its tools take from the recording are recorded whole. No model is asked until it is advanced. */
export async function openBeforeTurn(
  agent: ResolvedAgent,
  events: readonly Event[],
  turn: number,
  results?: RecordedResults,
): Promise<ContinuedSession> {
  const prefix = cutBeforeTurn(events, turn);
  const log = memoryLog(prefix);
  const session = await Session.open(agent, results ? withRecordedResults(log, results) : log);
  return { session, log, recorded: prefix.length };
}
