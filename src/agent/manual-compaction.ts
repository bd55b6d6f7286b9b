// Manual compaction of a session: the same attempt as in a run, with a report and the event that undoes it.
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
import { compactionDiff } from '../rules/compaction/index.ts';

/** The options of a manual compaction. */
export type ManualCompactionOptions = {
  /** Aborts the compaction; nothing is changed then. */
  readonly signal?: AbortSignal;
  /** What the summary must cover. */
  readonly focus?: string;
};

/** What a compaction changed. */
export type CompactionReport = {
  /** The conversation before. */
  readonly before: readonly Message[];
  /** The conversation after. */
  readonly after: readonly Message[];
  /** How it was done, as one sentence. */
  readonly detail: string;
  /** The difference as text: kept, removed and added messages. */
  readonly diff: string;
  /** The event that `rewind(undoEvent, 'returned')` takes to restore the conversation. */
  readonly undoEvent: string;
  /** The usage of the summary. */
  readonly spent: Partial<UsageTotals>;
};

/** Compacts the conversation in a new epoch. If it fails, the conversation does not change, but the cost of the summary is recorded. */
export async function compactSession(
  agent: ResolvedAgent,
  writer: SessionWriter,
  options: ManualCompactionOptions & { readonly signal: AbortSignal },
): Promise<CompactionReport> {
  const before = toArray(writer.state.messages);
  const undoEvent = writer.state.head ?? '';
  const attempt = await attemptCompaction(agent, writer.state, { ...options, clock: () => performance.now() });
  if (options.signal.aborted) {
    await recordCompactionCost(writer, attempt);
    throw new FairleadError('run/cancelled', 'The compaction was cancelled.', { blame: 'user' });
  }
  if (attempt.messages || attempt.spent)
    await writer.record((state) => compactionFacts(state, attempt), { durable: true });
  if (!attempt.messages)
    throw new FairleadError('session/not-compacted', `The conversation was not compacted: ${attempt.detail}`, {
      blame: 'user',
      hint: 'Nothing was changed.',
    });
  const after = toArray(writer.state.messages);
  const { detail, spent = {} } = attempt;
  return { before, after, detail, diff: compactionDiff(before, after), undoEvent, spent };
}
