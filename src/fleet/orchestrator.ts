// Handles orchestration runs: their next step depends only on their child runs, so any worker can continue them.
import {
  FairleadError,
  isObject,
  zeroUsage,
  openSessionWriter,
  runStateView,
  addUsage,
  type ApprovalQuestion,
  type Fact,
  type FleetRun,
  type FleetStore,
  type InboxDelivery,
  type Json,
  type JsonObject,
  type NewRun,
  type RunQueue,
  type RunOutcome,
  type RunSettlement,
  type TracePort,
  type UsageTotals,
} from '../core/index.ts';
import { isCancellationOf, sendMessage } from './inbox.ts';
import { getRunTrace } from './run-facts.ts';
import type { RunHandler, RunHandlerContext } from './run-handler.ts';
import { createRunLog } from './run-log.ts';

/** A child run to start: it inherits the settings of its parent, except those that are null here. */
export type ChildRun = { readonly name: string; readonly prompt: string; readonly settings?: JsonObject };

/** A message of the user that is forwarded to a child run, by its name. */
export type ChildMessage = { readonly name: string; readonly text: string; readonly by?: string };

type OrchestrationEffects = {
  /** Recorded in the session before anything is started, unless it is what was recorded last. */
  readonly progress?: Json;
  /** Messages for active child runs. A crash can repeat them. */
  readonly send?: readonly ChildMessage[];
  /** The names of child runs to cancel. */
  readonly cancel?: readonly string[];
};

/** The next step: start child runs (an empty list waits for the active ones), or end. */
export type OrchestrationStep =
  | ({
      readonly type: 'go-on';
      readonly start: readonly ChildRun[];
      /** How many runs may still follow these; they keep a share of the limits. 1 by default. */
      readonly expected?: number;
      /** Questions that the run waits for. */
      readonly questions?: readonly ApprovalQuestion[];
    } & OrchestrationEffects)
  | ({ readonly type: 'end'; readonly outcome: Omit<RunOutcome, 'spent'> } & OrchestrationEffects);

/** What an orchestration reads besides its child runs. */
export type OrchestrationContext = {
  /** What earlier rounds recorded as progress, in order. */
  readonly recorded: readonly Json[];
  /** The messages in the inbox. One that was recorded can be among them again after a crash. */
  readonly messages: readonly InboxDelivery[];
};

/** Decides the next step from a run, its child runs by name, and what was recorded. It must be deterministic. */
export type Orchestration = (
  run: FleetRun,
  children: ReadonlyMap<string, FleetRun>,
  context: OrchestrationContext,
) => OrchestrationStep | Promise<OrchestrationStep>;

/** The maximum number of child runs: enough for 100 steps with 5 attempts and as many verifications, the plans and the answer. */
const maxChildren = 1024;

/** Runs that one query lists. */
const pageSize = 1000;

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
    const recorded = await readRecorded(store.sessions, run);
    const step = await orchestrate(run, children, { recorded, messages: deliveries });
    await assertNotStopped();
    if (signal.aborted) return { type: 'released' };
    await sendToChildren(run, step.send ?? [], children, context);
    await recordProgress(run, step, recorded, context, await openTrace?.());
    for (const name of step.cancel ?? []) await store.queue.cancel(`${run.id}/${name}`, 'The step was cancelled.');
    const settlement: RunSettlement =
      step.type === 'end'
        ? completedSettlement(step.outcome, spent)
        : await startChildren(run, step, children, spent, store.queue);
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
  const children = new Map<string, FleetRun>();
  // Runs of clients that only name this parent can fill whole pages.
  for (let page: readonly FleetRun[] = [], isLast = false; !isLast; isLast = page.length < pageSize) {
    const before = page.at(-1)?.id;
    page = await queue.list({ parent: id, tenant, limit: pageSize, ...(before === undefined ? {} : { before }) });
    for (const child of page) if (child.id.startsWith(`${id}/`)) children.set(child.id.slice(id.length + 1), child);
  }
  return children;
}

/** Starts child runs. Their ids are fixed, so a crash starts none twice. */
async function startChildren(
  run: FleetRun,
  { start, expected = 1, questions = [] }: OrchestrationStep & { readonly type: 'go-on' },
  children: ReadonlyMap<string, FleetRun>,
  spent: UsageTotals,
  queue: RunQueue,
): Promise<RunSettlement> {
  const missing = start.filter(({ name }) => !children.has(name));
  if (children.size + missing.length > maxChildren)
    throw new FairleadError('fleet/too-many', `A run may start at most ${maxChildren} child runs.`, { blame: 'model' });
  const share = splitLimits(run.settings['limits'], spent, [...children.values()], missing.length + expected);
  const runs = missing.map(({ name, prompt, settings }): NewRun => ({
    id: `${run.id}/${name}`,
    prompt,
    settings: withoutNulls({ ...run.settings, ...settings, ...getChildLimits(share, settings?.['limits']) }),
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
  return { type: 'waiting', pendingApprovals: questions };
}

const withoutNulls = (settings: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));

/** Splits the remaining limits of a run among its child runs, so that the whole tree stays within them. What active child runs may still spend is not split again. */
function splitLimits(
  limits: Json | undefined,
  spent: UsageTotals,
  children: readonly FleetRun[],
  shares: number,
): JsonObject | undefined {
  if (!isObject(limits)) return undefined;
  const used = { usd: spent.usd, tokens: spent.input + spent.output, calls: spent.calls };
  const active = children.filter(({ status }) => status !== 'ended').map(({ settings }) => settings['limits']);
  const shared = Object.entries(used).flatMap(([key, amount]) => {
    const max = limits[key];
    const reserved = active.reduce<number>((sum, each) => sum + getAmount(each, key), 0);
    return typeof max === 'number' ? [[key, Math.max(0, max - amount - reserved) / Math.max(1, shares)]] : [];
  });
  return { ...limits, ...Object.fromEntries(shared) } as JsonObject;
}

const getAmount = (limits: Json | undefined, key: string): number => {
  const amount = isObject(limits) ? limits[key] : undefined;
  return typeof amount === 'number' ? amount : 0;
};

/** The limits of a child run: its share, lowered by what it asks for. */
function getChildLimits(share: JsonObject | undefined, own: Json | undefined): { readonly limits?: JsonObject } {
  if (!isObject(own)) return share ? { limits: share } : {};
  const lowered = Object.entries(own).map(([key, amount]) => {
    const most = share?.[key];
    return [key, typeof most === 'number' && typeof amount === 'number' ? Math.min(most, amount) : amount];
  });
  return { limits: { ...share, ...Object.fromEntries(lowered) } as JsonObject };
}

/** Forwards messages to child runs that are active; one that has ended reads them in its next attempt. */
async function sendToChildren(
  run: FleetRun,
  messages: readonly ChildMessage[],
  children: ReadonlyMap<string, FleetRun>,
  { store }: RunHandlerContext,
): Promise<void> {
  for (const { name, text, by } of messages) {
    const child = children.get(name);
    if (!child) continue;
    const from = by === undefined ? {} : { by };
    await sendMessage(store, child.session, { type: 'steer', text, run: `${run.id}/${name}`, ...from });
  }
}

/** Returns what the rounds of a run recorded as progress, in order. */
export async function readRecorded(
  sessions: Pick<FleetStore['sessions'], 'find' | 'reader'>,
  run: Pick<FleetRun, 'session' | 'kind'>,
): Promise<readonly Json[]> {
  if ((await sessions.find(run.session)) === undefined) return [];
  const log = await sessions.reader(run.session);
  try {
    const recorded: Json[] = [];
    for await (const events of log.read())
      for (const event of events)
        if (event.type === 'annotation-added' && event.key === run.kind) recorded.push(event.value);
    return recorded;
  } finally {
    await log.close();
  }
}

/** Records the progress in the session of the run, if it has changed. */
async function recordProgress(
  run: FleetRun,
  step: OrchestrationStep,
  recorded: readonly Json[],
  { store, worker, leaseLost, port }: RunHandlerContext,
  trace: TracePort | undefined,
): Promise<void> {
  if (step.progress === undefined) return;
  const progress = isObject(step.progress) ? { ...step.progress, ...getRunTrace(run) } : step.progress;
  if (JSON.stringify(recorded.at(-1)) === JSON.stringify(progress)) return;
  const opened = await store.sessions.open(run.session, { holder: worker, force: true, tenant: run.tenant });
  const log = createRunLog(opened, leaseLost, port);
  try {
    const writer = await openSessionWriter(log, runStateView([], []));
    const fact: Fact = { type: 'annotation-added', key: run.kind, value: progress };
    writer.subscribe((event, state) => trace?.onEvent(event, state));
    await writer.record(
      (state) => (state.session === '' ? [{ type: 'session-started', session: run.session }, fact] : [fact]),
      { durable: true },
    );
  } finally {
    await log.close();
  }
}
