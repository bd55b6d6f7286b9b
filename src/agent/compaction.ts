// Compaction by hand: the same attempt that a run makes, with a report of what it changed and where to go back to.
import {
  compactionFacts,
  recordCompactionCost,
  FairleadError,
  attemptCompaction,
  toArray,
  type ResolvedAgent,
  type SessionWriter,
  type Message,
  type UsageTotals,
} from '../core/index.ts';
import { compactionDiff } from '../rules/compaction/diff.ts';

/** What a compaction by hand may be given. */
export type ManualCompactionOptions = {
  readonly signal?: AbortSignal;
  /** What the summary should pay attention to. */
  readonly focus?: string;
};

/** What a compaction changed. */
export type CompactionReport = {
  readonly before: readonly Message[];
  readonly after: readonly Message[];
  /** How it was done, in one sentence. */
  readonly detail: string;
  /** The difference as text: kept, taken out, put in their place. */
  readonly diff: string;
  /** The event to go back to, with `rewind(undo, 'returned')`, to have everything as it was. */
  readonly undoEvent: string;
  /** What the summary used up. */
  readonly spent: Partial<UsageTotals>;
};

/** Makes the conversation shorter in a new epoch. Where it refuses, the conversation is as it was; what a summary cost is written down all the same. */
export async function compactSession(
  agent: ResolvedAgent,
  head: SessionWriter,
  options: ManualCompactionOptions & { readonly signal: AbortSignal },
): Promise<CompactionReport> {
  const before = toArray(head.state.messages);
  const undo = head.state.head ?? '';
  const made = await attemptCompaction(agent, head.state, { ...options, clock: () => performance.now() });
  if (options.signal.aborted) {
    await recordCompactionCost(head, made);
    throw new FairleadError('run/cancelled', 'The compaction was cancelled.', { blame: 'user' });
  }
  if (made.messages || made.spent) await head.record((state) => compactionFacts(state, made), { durable: true });
  if (!made.messages)
    throw new FairleadError('session/not-compacted', `The conversation was not compacted: ${made.detail}`, {
      blame: 'user',
      hint: 'Nothing was changed.',
    });
  const after = toArray(head.state.messages);
  const { detail, spent = {} } = made;
  return { before, after, detail, diff: compactionDiff(before, after), undoEvent: undo, spent };
}
