// Finds the last compaction of a session and the event before it.
import { runStateView, toArray, type Event, type Message } from '../../core/index.ts';
import { getBranchPath } from './branch-path.ts';

/** A compaction and what it changed. */
export type CompactionDiff = {
  readonly before: readonly Message[];
  readonly after: readonly Message[];
  /** The last event before it: a rewind to it undoes the compaction. */
  readonly undoEvent: string;
  /** Number of messages after it. */
  readonly messagesSince: number;
};

/** Returns the last compaction on the current branch, if there is one. */
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
