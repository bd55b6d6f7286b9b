// The log of a run in a fleet: it takes nothing more once the run is somebody else's, and waits for the disk only where something outside hangs on it.
import { FairleadError, type Fact, type Log } from '../core/index.ts';

/** A log that refuses to mix our facts with those of another who has the run now. */
export const createRunLog = (log: Log, lost: AbortSignal): Log => ({
  read: (options) => log.read(options),
  follow: (from, signal) => log.follow(from, signal),
  close: () => log.close(),
  append: async (after, facts, options) => {
    if (lost.aborted) throw new FairleadError('store/fenced', 'This run is worked on by another.', { blame: 'store' });
    const since = performance.now();
    const settle = options?.durable === true && !facts.every(canDeferSync);
    const events = await log.append(after, facts, { ...options, durable: settle });
    // Whoever slept here may have lost the run since, and would act on an intent that another has cleared up: the store is asked once more.
    if (performance.now() - since > slowAppendMs) await log.append(after + events.length, []);
    return events;
  },
});

/** Milliseconds from which on an append may have been slept through; less than any lease. */
const slowAppendMs = 500;

/**
 * How a session, a run and its words begin, and that a run has ended: nothing outside follows from these by themselves. The turn that is written before a
 * model is asked takes the first along when it is settled, and the run's settlement in the queue the last. Whoever finds them lost writes them again.
 */
const canDeferSync = (fact: Fact): boolean =>
  fact.type === 'epoch-started' ? fact.baseline === undefined : deferredSyncTypes.has(fact.type);
const deferredSyncTypes: ReadonlySet<Fact['type']> = new Set([
  'session-started',
  'input-received',
  'run-started',
  'run-ended',
]);
