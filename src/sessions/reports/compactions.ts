// The compactions of a session, found in its log: what one changed, and where to go back to.
import { runStateView, toArray, type Event, type Message } from '../../core/index.ts';
import { getBranchPath } from './branch-path.ts';

/** A compaction that happened. */
export type CompactionDiff = {
  readonly before: readonly Message[];
  readonly after: readonly Message[];
  /** The last event before it: going back there takes it back. */
  readonly undoEvent: string;
  /** How many messages came after it. */
  readonly messagesSince: number;
};

/** The last compaction on the branch that is being continued; nothing if there was none. */
export function lastCompaction(events: readonly Event[]): CompactionDiff | undefined {
  const path = getBranchPath(events);
  const at = path.findLastIndex((event) => event.type === 'epoch-started' && event.reason === 'compacted');
  const fact = path[at];
  if (fact?.type !== 'epoch-started' || !fact.baseline || fact.parent === null) return undefined;
  const view = runStateView();
  const before = path.slice(0, at).reduce((state, event) => view.on(state, event), view.initial);
  const now = path.slice(at).reduce((state, event) => view.on(state, event), before);
  const after = fact.baseline.messages;
  return {
    before: toArray(before.messages),
    after,
    undoEvent: fact.parent,
    messagesSince: now.messages.length - after.length,
  };
}
