// The log of a queued run: only the worker that holds the lease of the run can append to it.
import { FairleadError, systemPort, type Fact, type Log, type ProcessPort } from '../core/index.ts';

/** Wraps a log so that a worker that lost its lease cannot append to it. */
export const createRunLog = (
  log: Log,
  lost: AbortSignal,
  { monotonicMs }: Pick<ProcessPort, 'monotonicMs'> = systemPort,
): Log => ({
  read: (options) => log.read(options),
  follow: (from, signal) => log.follow(from, signal),
  close: () => log.close(),
  append: async (after, facts, options) => {
    if (lost.aborted)
      throw new FairleadError('store/fenced', 'Another worker has taken over this run.', { blame: 'store' });
    let startedAt = monotonicMs();
    const durable = options?.durable === true && !facts.every(canDeferSync);
    const events = await log.append(after, facts, { ...options, durable });
    // If this process was suspended here, it may have lost the lease: an empty append checks the fence again before the caller acts on the events.
    // The process may have been suspended during that check too. Before an effect the last check must have been quick.
    const maxChecks = facts.some(({ type }) => type === 'tool-started') ? maxChecksOfCall : 1;
    for (let checks = 0; monotonicMs() - startedAt > slowAppendMs; checks++) {
      if (checks === maxChecksOfCall) throw tooSlowError();
      if (checks === maxChecks) break;
      startedAt = monotonicMs();
      await log.append(after + events.length, []);
    }
    return events;
  },
});

/** An append that takes longer may have outlived the lease; shorter than any lease, in milliseconds. */
const slowAppendMs = 500;

/** How often a worker checks that it still holds the run before it runs a call. */
const maxChecksOfCall = 5;

const tooSlowError = (): FairleadError =>
  new FairleadError(
    'run/left',
    'The store is too slow to show that this worker still holds the run, so no call was run.',
    {
      blame: 'store',
      retry: true,
    },
  );

/**
 * Whether an event need not be synced at once: no effect depends on it. The events at the start of a run are synced with the turn that is
 * recorded before the model is called. If they are lost in a crash, the next attempt records them again. The end of a run is synced: a
 * database that crashed after it may have lost it, and the worker would still write the result of the run.
 */
const canDeferSync = (fact: Fact): boolean =>
  fact.type === 'epoch-started' ? fact.baseline === undefined : deferredSyncTypes.has(fact.type);
const deferredSyncTypes: ReadonlySet<Fact['type']> = new Set(['session-started', 'input-received', 'run-started']);
