// Handles runs that are one task without an agent: progress and result are recorded in the session, and the budget, the kill switch and cancellation apply.
import {
  addUsage,
  FairleadError,
  isObject,
  openSessionWriter,
  runStateView,
  systemPort,
  zeroUsage,
  type Event,
  type Fact,
  type FleetRun,
  type Json,
  type JsonObject,
  type Log,
  type Provider,
  type RunOutcome,
  type RunSettlement,
  type UsageTotals,
} from '../core/index.ts';
import { createBudgetedProvider } from './budgeted-provider.ts';
import { isCancellationOf } from './inbox.ts';
import type { RunHandler, RunHandlerContext } from './run-handler.ts';
import { createRunLog } from './run-log.ts';

/** What the work of a task gets besides its run. */
export type TaskContext = {
  /** Aborts if the run is cancelled, or the worker detaches from it. */
  readonly signal: AbortSignal;
  /** Wraps a model with the kill switch and the budget of the tenant. */
  readonly wrapProvider: (provider: Provider) => Provider;
  /** Records progress in the session; the last one of a short time counts. */
  readonly onProgress: (progress: JsonObject) => void;
};

/** What a task ends with: the outcome of the run, and a result that its session keeps. */
export type TaskResult = {
  readonly outcome: Pick<RunOutcome, 'reason' | 'detail' | 'text'>;
  readonly result: JsonObject;
  readonly spent: Partial<UsageTotals>;
};

/** What the session of a task says about it. */
export type TaskNotes = { readonly progress?: JsonObject; readonly result?: JsonObject };

/** Milliseconds between two records of progress. */
const progressMs = 500;

/** Creates a handler that does a task. An attempt that was interrupted does it again, so it must have no effects. */
export const createTaskRunHandler =
  (work: (run: FleetRun, context: TaskContext) => Promise<TaskResult>): RunHandler =>
  async (run, context) => {
    const { store, worker, leaseLost, assertNotStopped } = context;
    const opened = await store.sessions.open(run.session, { holder: worker, force: true, tenant: run.tenant });
    const log = createRunLog(opened, leaseLost, context.port);
    try {
      // Also in a first attempt: a crash of the store may have undone the claim of an earlier one.
      const finished = findOutcome(await readTaskNotes(log, run), run.id);
      if (finished) return { type: 'completed', outcome: finished };
      await assertNotStopped();
      return await runTask(run, context, log, work);
    } finally {
      await log.close();
    }
  };

async function runTask(
  run: FleetRun,
  context: RunHandlerContext,
  log: Log,
  work: (run: FleetRun, context: TaskContext) => Promise<TaskResult>,
): Promise<RunSettlement> {
  const { store, signal, assertNotStopped } = context;
  const cancelled = new AbortController();
  const watch = watchCancellation(run, context, cancelled);
  const recorder = await createRecorder(run, log, context.port);
  try {
    await watch.check();
    const { outcome, result, spent } = await work(run, {
      signal: AbortSignal.any([signal, cancelled.signal]),
      wrapProvider: (provider) =>
        createBudgetedProvider(provider, {
          ledger: store.ledger,
          tenant: run.tenant,
          run: run.id,
          assertNotStopped,
          ...(context.port ? { port: context.port } : {}),
        }),
      onProgress: recorder.progress,
    });
    // A task that a stopped fleet interrupted has no result; it is tried again.
    await assertNotStopped();
    if (signal.aborted) return { type: 'released' };
    const ended: RunOutcome = { ...outcome, spent: addUsage(zeroUsage, spent) };
    await recorder.result({ ...result, outcome: toJsonOutcome(ended) }, spent);
    return { type: 'completed', outcome: ended };
  } catch (error) {
    if (cancelled.signal.aborted)
      return {
        type: 'completed',
        outcome: { reason: 'cancelled', detail: 'The run was cancelled.', text: '', spent: zeroUsage },
      };
    if (signal.aborted) return { type: 'released' };
    throw error;
  } finally {
    watch.stop();
    await recorder.settled();
  }
}

const toJsonOutcome = (outcome: RunOutcome): Json => JSON.parse(JSON.stringify(outcome)) as Json;

/** Watches the inbox of a run for its cancellation. */
function watchCancellation(
  run: FleetRun,
  { store, onInboxMessage }: RunHandlerContext,
  cancelled: AbortController,
): { readonly check: () => Promise<void>; readonly stop: () => void } {
  const check = async (): Promise<void> => {
    const deliveries = await store.inbox.read(run.session, 0);
    if (!deliveries.some(({ message }) => isCancellationOf(message, run.id))) return;
    const upTo = deliveries.at(-1)?.position;
    if (upTo !== undefined) await store.inbox.clear(run.session, upTo);
    cancelled.abort(new FairleadError('run/cancelled', 'The run was cancelled.', { blame: 'user' }));
    cancelled.signal.throwIfAborted();
  };
  return { check, stop: onInboxMessage(run.session, () => void check().catch(() => undefined)) };
}

/** Records the progress and the result of a run, one after the other. */
async function createRecorder(
  run: FleetRun,
  log: Log,
  { timer: startTimer } = systemPort,
): Promise<{
  readonly progress: (value: JsonObject) => void;
  readonly result: (value: JsonObject, spent: Partial<UsageTotals>) => Promise<void>;
  readonly settled: () => Promise<void>;
}> {
  const writer = await openSessionWriter(log, runStateView([], []));
  let last: Promise<unknown> = Promise.resolve();
  let waiting: JsonObject | undefined;
  let cancelTimer: (() => void) | undefined;
  const record = (value: JsonObject, spent?: Partial<UsageTotals>): Promise<unknown> => {
    const fact: Fact = {
      type: 'annotation-added',
      key: run.kind,
      value: { run: run.id, ...value },
      ...(spent ? { spent } : {}),
    };
    const write = last.then(() =>
      writer.record((state) =>
        state.session === '' ? [{ type: 'session-started', session: run.session }, fact] : [fact],
      ),
    );
    last = write.catch(() => undefined);
    return write;
  };
  const flush = (): void => {
    cancelTimer = undefined;
    if (waiting) void record({ progress: waiting }).catch(() => undefined);
    waiting = undefined;
  };
  const stop = (): void => {
    cancelTimer?.();
    waiting = undefined;
  };
  return {
    progress(value) {
      waiting = value;
      cancelTimer ??= startTimer(progressMs, flush);
    },
    async result(value, spent) {
      stop();
      await record({ result: value }, spent);
    },
    async settled() {
      stop();
      await last;
    },
  };
}

/** Returns the last progress and the result of a task run from its session. */
export async function readTaskNotes(
  log: Pick<Log, 'read'>,
  { id, kind }: Pick<FleetRun, 'id' | 'kind'>,
): Promise<TaskNotes> {
  let notes: TaskNotes = {};
  for await (const events of log.read()) for (const event of events) notes = addNote(notes, event, id, kind);
  return notes;
}

function addNote(notes: TaskNotes, event: Event, run: string, kind: string): TaskNotes {
  if (event.type !== 'annotation-added' || event.key !== kind || !isObject(event.value)) return notes;
  const { run: of, progress, result } = event.value;
  if (of !== run) return notes;
  if (isObject(progress)) return { ...notes, progress };
  return isObject(result) ? { ...notes, result } : notes;
}

/** The outcome that an earlier attempt recorded. */
function findOutcome({ result }: TaskNotes, run: string): RunOutcome | undefined {
  const outcome = result?.['outcome'];
  if (!isObject(outcome) || typeof outcome['reason'] !== 'string' || run === '') return undefined;
  return outcome as unknown as RunOutcome;
}
