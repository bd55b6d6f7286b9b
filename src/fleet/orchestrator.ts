// A driver of runs that do nothing themselves: what is next is decided from their children alone, so that any worker can go on with them.
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
  type UsageTotals,
} from '../core/index.ts';
import type { RunHandler, RunHandlerContext } from './run-handler.ts';
import { isCancellationOf } from './inbox.ts';

/** A run that a coordinator wants: the rest is as in its parent, less the settings that are null here. */
export type ChildRun = { readonly name: string; readonly prompt: string; readonly settings?: JsonObject };

/** What is next: children to begin (none: those under way are waited for), or the end. What it has found out so far is `about`. */
export type OrchestrationStep =
  | { readonly type: 'go-on'; readonly start: readonly ChildRun[]; readonly progress?: Json }
  | { readonly type: 'end'; readonly outcome: Omit<RunOutcome, 'spent'>; readonly progress?: Json };

/** Decides from a run and its children, by their names; the same children always lead to the same course. */
export type Orchestration = (
  run: FleetRun,
  children: ReadonlyMap<string, FleetRun>,
) => OrchestrationStep | Promise<OrchestrationStep>;

/** More than any course may begin, so that one list shows all of them. */
const maxChildren = 1000;

/** A driver that begins children and waits for them, as a conduct says. */
export const createOrchestrationHandler =
  (conduct: Orchestration): RunHandler =>
  async (run, context) => {
    const { store, assertNotStopped, signal } = context;
    const letters = await store.inbox.read(run.session, 0);
    const children = await listChildren(store.queue, run);
    const spent = sumSpending(children.values());
    const upTo = letters.at(-1)?.position;
    const clear = async (): Promise<void> => {
      if (upTo !== undefined) await store.inbox.clear(run.session, upTo);
    };
    if (letters.some(({ message }) => isCancellationOf(message, run.id))) {
      for (const child of children.values()) await store.queue.cancel(child.id, 'What it was part of was cancelled.');
      await clear();
      return endedSettlement({ reason: 'cancelled', detail: 'The run was cancelled by a letter.', text: '' }, spent);
    }
    const course = await conduct(run, children);
    await assertNotStopped();
    if (signal.aborted) return { type: 'released' };
    await recordProgress(run, course, context);
    const settlement: RunSettlement =
      course.type === 'end'
        ? endedSettlement(course.outcome, spent)
        : await startChildren(run, course.start, children, spent, store.queue);
    await clear();
    return settlement;
  };

const endedSettlement = (outcome: Omit<RunOutcome, 'spent'>, spent: UsageTotals): RunSettlement => ({
  type: 'completed',
  outcome: { ...outcome, spent },
});

const sumSpending = (runs: Iterable<FleetRun>): UsageTotals =>
  [...runs].reduce((sum, { outcome }) => addUsage(sum, outcome?.spent ?? {}), zeroUsage);

/** Anybody may name a parent: only what bears its name and its tenant's is its child. */
async function listChildren(queue: RunQueue, { id, tenant }: FleetRun): Promise<ReadonlyMap<string, FleetRun>> {
  const found = await queue.list({ parent: id, tenant, limit: maxChildren });
  const ours = found.filter((child) => child.id.startsWith(`${id}/`));
  return new Map(ours.map((child) => [child.id.slice(id.length + 1), child]));
}

/** A child whose id is known is the one that was begun before: a crash begins none twice. */
async function startChildren(
  run: FleetRun,
  wanted: readonly ChildRun[],
  children: ReadonlyMap<string, FleetRun>,
  spent: UsageTotals,
  queue: RunQueue,
): Promise<RunSettlement> {
  const fresh = wanted.filter(({ name }) => !children.has(name));
  if (children.size + fresh.length > maxChildren)
    throw new FairleadError('fleet/too-many', `One run may begin ${maxChildren} others at most.`, { blame: 'model' });
  const limits = splitLimits(run.settings['limits'], spent, fresh.length + 1);
  const runs = fresh.map(({ name, prompt, settings }): NewRun => ({
    id: `${run.id}/${name}`,
    prompt: prompt,
    settings: withoutNulls({ ...run.settings, ...(limits ? { limits } : {}), ...settings }),
    tenant: run.tenant,
    // What was begun is ended before something else is begun.
    priority: run.priority + 1,
    parent: run.id,
  }));
  const begun = runs.length > 0 ? await queue.enqueue(runs) : [];
  // What another has begun under this id would never wake this one.
  const taken = begun.find(({ parent, tenant }) => parent !== run.id || tenant !== run.tenant);
  if (taken) throw new FairleadError('fleet/taken', `${taken.id} is somebody else's run.`, { blame: 'user' });
  return { type: 'waiting', pendingApprovals: [] };
}

const withoutNulls = (settings: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));

/** What is left of a run's own bounds, shared out: the whole tree keeps within them. */
function splitLimits(limits: Json | undefined, spent: UsageTotals, shares: number): JsonObject | undefined {
  if (!isObject(limits)) return undefined;
  const used = { usd: spent.usd, tokens: spent.input + spent.output, calls: spent.calls };
  const shared = Object.entries(used).flatMap(([key, gone]) => {
    const most = limits[key];
    return typeof most === 'number' ? [[key, Math.max(0, most - gone) / shares]] : [];
  });
  return { ...limits, ...Object.fromEntries(shared) } as JsonObject;
}

/** Writes what was found out into the run's own session, for whoever looks on; the same is written once. */
async function recordProgress(
  run: FleetRun,
  course: OrchestrationStep,
  { store, worker }: RunHandlerContext,
): Promise<void> {
  if (course.progress === undefined) return;
  const log = await store.sessions.open(run.session, { holder: worker, force: true });
  try {
    const noted: NamedView<string> = {
      name: 'noted',
      initial: '',
      on: (last, event) =>
        event.type === 'annotation-added' && event.key === run.kind ? JSON.stringify(event.value) : last,
    };
    const head = await openSessionWriter(log, runStateView([], [noted]));
    if (readView(head.state, noted) === JSON.stringify(course.progress)) return;
    const fact: Fact = { type: 'annotation-added', key: run.kind, value: course.progress };
    await head.record((state) =>
      state.session === '' ? [{ type: 'session-started', session: run.session }, fact] : [fact],
    );
  } finally {
    await log.close();
  }
}
