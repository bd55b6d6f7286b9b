// Handles orchestration runs: their next step depends only on their child runs, so any worker can continue them.
import {
  FairleadError,
  isObject,
  readView,
  zeroUsage,
  openSessionWriter,
  runStateView,
  addUsage,
  type Fact,
  type FleetRun,
  type Json,
  type JsonObject,
  type NamedView,
  type NewRun,
  type RunQueue,
  type RunOutcome,
  type RunSettlement,
  type TracePort,
  type UsageTotals,
} from '../core/index.ts';
import type { RunHandler, RunHandlerContext } from './run-handler.ts';
import { isCancellationOf } from './inbox.ts';
import { getRunTrace } from './run-facts.ts';

/** A child run to start: it inherits the settings of its parent, except those that are null here. */
export type ChildRun = { readonly name: string; readonly prompt: string; readonly settings?: JsonObject };

/** The next step: start child runs (an empty list waits for the active ones), or end. `progress` is recorded in the session. */
export type OrchestrationStep =
  | { readonly type: 'go-on'; readonly start: readonly ChildRun[]; readonly progress?: Json }
  | { readonly type: 'end'; readonly outcome: Omit<RunOutcome, 'spent'>; readonly progress?: Json };

/** Decides the next step from a run and its child runs by name. It must be deterministic. */
export type Orchestration = (
  run: FleetRun,
  children: ReadonlyMap<string, FleetRun>,
) => OrchestrationStep | Promise<OrchestrationStep>;

/** The maximum number of child runs, so that one query lists all of them. */
const maxChildren = 1000;

/** Returns what observes the sessions of orchestrations, if they are traced. */
export type OpenTrace = () => Promise<TracePort | undefined>;

/** Creates a handler that starts child runs and waits for them, as the orchestration decides. */
export const createOrchestrationHandler =
  (orchestrate: Orchestration, openTrace?: OpenTrace): RunHandler =>
  async (run, context) => {
    const { store, assertNotStopped, signal } = context;
    const deliveries = await store.inbox.read(run.session, 0);
    const children = await listChildren(store.queue, run);
    const spent = sumSpending(children.values());
    const upTo = deliveries.at(-1)?.position;
    const clearInbox = async (): Promise<void> => {
      if (upTo !== undefined) await store.inbox.clear(run.session, upTo);
    };
    if (deliveries.some(({ message }) => isCancellationOf(message, run.id))) {
      for (const child of children.values()) await store.queue.cancel(child.id, 'Its parent run was cancelled.');
      await clearInbox();
      return completedSettlement({ reason: 'cancelled', detail: 'The run was cancelled.', text: '' }, spent);
    }
    const step = await orchestrate(run, children);
    await assertNotStopped();
    if (signal.aborted) return { type: 'released' };
    await recordProgress(run, step, context, await openTrace?.());
    const settlement: RunSettlement =
      step.type === 'end'
        ? completedSettlement(step.outcome, spent)
        : await startChildren(run, step.start, children, spent, store.queue);
    await clearInbox();
    return settlement;
  };

const completedSettlement = (outcome: Omit<RunOutcome, 'spent'>, spent: UsageTotals): RunSettlement => ({
  type: 'completed',
  outcome: { ...outcome, spent },
});

const sumSpending = (runs: Iterable<FleetRun>): UsageTotals =>
  [...runs].reduce((sum, { outcome }) => addUsage(sum, outcome?.spent ?? {}), zeroUsage);

/** Returns the child runs of a run. A client may name any parent, so the id prefix and the tenant must match too. */
async function listChildren(queue: RunQueue, { id, tenant }: FleetRun): Promise<ReadonlyMap<string, FleetRun>> {
  const named = await queue.list({ parent: id, tenant, limit: maxChildren });
  const children = named.filter((child) => child.id.startsWith(`${id}/`));
  return new Map(children.map((child) => [child.id.slice(id.length + 1), child]));
}

/** Starts child runs. Their ids are fixed, so a crash starts none twice. */
async function startChildren(
  run: FleetRun,
  requested: readonly ChildRun[],
  children: ReadonlyMap<string, FleetRun>,
  spent: UsageTotals,
  queue: RunQueue,
): Promise<RunSettlement> {
  const missing = requested.filter(({ name }) => !children.has(name));
  if (children.size + missing.length > maxChildren)
    throw new FairleadError('fleet/too-many', `A run may start at most ${maxChildren} child runs.`, { blame: 'model' });
  const limits = splitLimits(run.settings['limits'], spent, missing.length + 1);
  const runs = missing.map(({ name, prompt, settings }): NewRun => ({
    id: `${run.id}/${name}`,
    prompt,
    settings: withoutNulls({ ...run.settings, ...(limits ? { limits } : {}), ...settings }),
    tenant: run.tenant,
    // Child runs of started runs come before new runs.
    priority: run.priority + 1,
    parent: run.id,
  }));
  const queued = runs.length > 0 ? await queue.enqueue(runs) : [];
  // A run of another client under this id would never wake this run.
  const conflicting = queued.find(({ parent, tenant }) => parent !== run.id || tenant !== run.tenant);
  if (conflicting)
    throw new FairleadError(
      'fleet/taken',
      `The id ${conflicting.id} is taken by a run that is not a child of ${run.id}.`,
      {
        blame: 'user',
      },
    );
  return { type: 'waiting', pendingApprovals: [] };
}

const withoutNulls = (settings: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));

/** Splits the remaining limits of a run among its child runs, so that the whole tree stays within them. */
function splitLimits(limits: Json | undefined, spent: UsageTotals, shares: number): JsonObject | undefined {
  if (!isObject(limits)) return undefined;
  const used = { usd: spent.usd, tokens: spent.input + spent.output, calls: spent.calls };
  const shared = Object.entries(used).flatMap(([key, amount]) => {
    const max = limits[key];
    return typeof max === 'number' ? [[key, Math.max(0, max - amount) / shares]] : [];
  });
  return { ...limits, ...Object.fromEntries(shared) } as JsonObject;
}

/** Records the progress in the session of the run, if it has changed. */
async function recordProgress(
  run: FleetRun,
  step: OrchestrationStep,
  { store, worker }: RunHandlerContext,
  trace: TracePort | undefined,
): Promise<void> {
  if (step.progress === undefined) return;
  const progress = isObject(step.progress) ? { ...step.progress, ...getRunTrace(run) } : step.progress;
  const log = await store.sessions.open(run.session, { holder: worker, force: true, tenant: run.tenant });
  try {
    const recorded: NamedView<string> = {
      name: 'noted',
      initial: '',
      on: (last, event) =>
        event.type === 'annotation-added' && event.key === run.kind ? JSON.stringify(event.value) : last,
    };
    const writer = await openSessionWriter(log, runStateView([], [recorded]));
    if (readView(writer.state, recorded) === JSON.stringify(progress)) return;
    const fact: Fact = { type: 'annotation-added', key: run.kind, value: progress };
    writer.subscribe((event, state) => trace?.onEvent(event, state));
    await writer.record((state) =>
      state.session === '' ? [{ type: 'session-started', session: run.session }, fact] : [fact],
    );
  } finally {
    await log.close();
  }
}
