// Runs one schedule: the real workers on a simulated store, model and tools, in virtual time, with the faults of its seed.
import { resolveAgent } from '../src/agent/index.ts';
import { createAgentRunHandler, createOrchestrationHandler, startWorker, type Worker } from '../src/fleet/index.ts';
import { planOrchestration } from '../src/fleet/plan/index.ts';
import { zeroUsage } from '../src/core/index.ts';
import { createFaultPlan, formatFault, type Fault, type FaultPlan } from './faults.ts';
import { checkEnd } from './invariants.ts';
import { createProcess, startOfTime, type ProcessWorld, type SimulatedProcess } from './process.ts';
import type { Protection } from './protections.ts';
import { createSimulatedProvider } from './provider.ts';
import { createRandom } from './random.ts';
import { drawScenario, type Scenario } from './scenarios.ts';
import { createScheduler } from './scheduler.ts';
import { openModelStore } from './store.ts';
import { createStoreState } from './store-state.ts';
import { createTools } from './tools.ts';
import { startUsers } from './users.ts';
import { createWorld, type Violation, type World } from './world.ts';

/** The options of a schedule. */
export type ScheduleOptions = {
  readonly seed: number;
  /** Only this scenario. */
  readonly scenario?: string | undefined;
  /** Replaces the faults of the seed, to minimise them. */
  readonly plan?: FaultPlan;
  /** Protections that a planted bug removes. */
  readonly removed?: Protection | undefined;
  readonly trace?: ((line: string) => void) | undefined;
};

/** What came of a schedule. */
export type ScheduleResult = {
  readonly seed: number;
  readonly scenario: string;
  readonly plan: FaultPlan;
  /** The faults that hit a call. */
  readonly injected: readonly Fault[];
  readonly violations: readonly Violation[];
  readonly events: number;
  readonly virtualMs: number;
  /** How many calls had a number: the places at which a fault can hit. */
  readonly calls: number;
};

const leaseMs = 2000;
/** How long late processes are watched after all runs have ended, in milliseconds. */
const afterwardsMs = 4000;

/** Runs the schedule of a seed. */
export async function runSchedule(options: ScheduleOptions): Promise<ScheduleResult> {
  const { seed } = options;
  const scenario = drawScenario(createRandom(seed, 'scenario'), options.scenario);
  const plan =
    options.plan ?? createFaultPlan(createRandom(seed, 'faults'), scenario.calls, leaseMs, scenario.maxLeadMs);
  const scheduler = createScheduler();
  const world = createWorld();
  const injected: Fault[] = [];
  const trace =
    options.trace && ((line: string) => options.trace?.(`${scheduler.now().toFixed(1).padStart(9)}  ${line}`));
  const dead = new Set<string>();
  const storeRandom = createRandom(seed, 'store');
  const setting = { retries: storeRandom.chance(0.5) };

  const state = createStoreState({
    now: () => startOfTime + Math.floor(scheduler.now()),
    leaseMs,
    retryMs: 200,
    maxWorkerLosses: 1000,
    isProcessDead: (process) => plan.sameMachine && dead.has(process),
    ...(options.removed ? { removed: new Set([options.removed]) } : {}),
    onAppend: (session, fence, current) => {
      if (fence !== current)
        world.report('fences', `an append to ${session} with the fence ${fence} instead of ${current}`);
    },
  });

  let calls = 0;
  const faults = new Map(plan.faults.map((fault) => [fault.at, fault]));
  const processWorld: ProcessWorld = {
    scheduler,
    plan,
    trace,
    takeFault: () => faults.get(calls++),
    crashStore: () => state.crash(storeRandom.index(state.tables.unsynced() + 1)),
    onFault: (fault) => void injected.push(fault),
    onClockLead: (leadMs) => (world.maxLeadMs = Math.max(world.maxLeadMs, leadMs)),
    onSuspend: (process, ms) => void world.resumedAt.set(process, scheduler.now() + ms),
    onEnd({ name }) {
      dead.add(name);
      const slot = Number(/^w(\d+)/.exec(name)?.[1] ?? NaN);
      if (!Number.isNaN(slot)) scheduler.after(storeRandom.between(50, 1500), () => startSlot(slot));
    },
  };

  const generations = new Map<number, number>();
  const workers = new Map<number, { readonly worker: Worker; readonly process: SimulatedProcess }>();

  function startSlot(slot: number): void {
    const generation = (generations.get(slot) ?? 0) + 1;
    generations.set(slot, generation);
    const name = `w${slot}.${generation}`;
    const random = createRandom(seed, name);
    const process = createProcess(processWorld, name, random, true);
    trace?.(`${name} starts`);
    const store = openModelStore(state, process, {
      retries: setting.retries,
      notificationDelays: () => drawNotificationDelays(plan, random),
      breaksWatch: () => plan.lossyNotifications && random.chance(0.05),
    });
    const tools = createTools(world, process, scheduler.now, state.isRemoved);
    const handleRun = createAgentRunHandler(async (run) => {
      const provider = createSimulatedProvider(run, process, world, random, scenario.providerFaults);
      const parts = resolveAgent({ provider, system: 'Work.', tools, settings: { maxOutputTokens: 40 } });
      return { parts, close: async () => {} };
    });
    const worker = startWorker({
      store,
      handlers: {
        run: handleRun,
        plan: createOrchestrationHandler(state.isRemoved('plan-order') ? impatientOrchestration : planOrchestration),
      },
      port: process.port,
      name,
      concurrency: 2,
      graceMs: 1500,
      keepDays: Infinity,
      ...(trace ? { notify: (message: string) => trace(`${name} says: ${message}`) } : {}),
    });
    workers.set(slot, { worker, process });
    worker.done.catch((error: unknown) => world.report('not-stuck', `${name} ended with ${String(error)}`));
  }

  const areRunsEnded = (): boolean => {
    const runs = state.tables.runs.rows();
    return runs.length > 0 && runs.every(({ status }) => status === 'ended');
  };
  const user = createProcess(processWorld, 'user', createRandom(seed, 'user'), false);
  const userStore = openModelStore(state, user);
  if (scenario.budget) {
    const { budget } = scenario;
    state.tables.transact(true, () =>
      state.tables.budgets.set(budget.tenant, {
        tenant: budget.tenant,
        period: budget.period,
        usd: budget.usd ?? null,
        tokens: budget.tokens ?? null,
      }),
    );
  }
  let isOver = false;
  const actionsLeft = startUsers({
    store: userStore,
    process: user,
    world,
    scenario,
    random: createRandom(seed, 'users'),
    duplicates: plan.duplicateRequests,
    isDone: () => isOver,
    stopWorker(slot) {
      const found = workers.get(slot % scenario.workers);
      if (!found?.process.isAlive()) return;
      trace?.(`${found.process.name} is asked to stop`);
      found.worker.stop();
      void found.worker.done.then(() => found.process.kill());
    },
    trace,
  });
  for (let slot = 0; slot < scenario.workers; slot++) startSlot(slot);

  trace?.(
    `scenario ${scenario.name}, ${scenario.workers} workers; faults: ${plan.faults.map(formatFault).join('; ') || 'none'}`,
  );
  // A rest whose end a worker with a wrong clock has stored is longer by the error of the clock.
  const isDone = (): boolean => actionsLeft() === 0 && areRunsEnded();
  let isEnded = await scheduler.run(isDone, scenario.limitMs);
  if (!isEnded && world.maxLeadMs > 0) isEnded = await scheduler.run(isDone, scenario.limitMs + world.maxLeadMs);
  if (!isEnded) reportStuck(world, state);
  isOver = true;
  const lastResume = Math.max(scheduler.now(), ...world.resumedAt.values());
  await scheduler.run(() => false, Math.min(lastResume, scheduler.now() + 10_000) + afterwardsMs);
  if (isEnded) checkEnd(world, state, scenario);
  checkBudget(world, scenario);
  const virtualMs = scheduler.now();
  return {
    seed,
    scenario: scenario.name,
    plan,
    injected,
    violations: world.violations,
    events: scheduler.events(),
    virtualMs,
    calls,
  };
}

/** The orchestration of plans with a planted bug: a step that has started counts as done. */
const impatientOrchestration: typeof planOrchestration = (run, children, progress) =>
  planOrchestration(
    run,
    new Map(
      [...children].map(([name, child]) => [
        name,
        name.startsWith('step-') && child.status === 'running'
          ? { ...child, status: 'ended' as const, outcome: { reason: 'answered' as const, text: '', spent: zeroUsage } }
          : child,
      ]),
    ),
    progress,
  );

/** A notification is at most a quarter of a second late; it can come twice. */
function drawNotificationDelays(
  { lossyNotifications }: FaultPlan,
  random: ReturnType<typeof createRandom>,
): readonly number[] {
  const first = random.between(0.2, 3);
  if (!lossyNotifications) return [first];
  const kind = random.next();
  return kind < 0.25 ? [250] : kind < 0.5 ? [first, random.between(3, 200)] : [first];
}

function reportStuck(world: World, state: ReturnType<typeof createStoreState>): void {
  const open = state.tables.runs.rows().filter(({ status }) => status !== 'ended');
  const text = open.map(
    ({ id, status, holder, due }) => `${id} is ${status}${holder ? ` of ${holder}` : ''}, due ${due - startOfTime}`,
  );
  world.report('not-stuck', text.join('; ') || 'nothing was queued');
}

/** What was spent at the model never exceeds the budget. */
function checkBudget(world: World, { budget }: Scenario): void {
  if (budget?.usd === undefined) return;
  const spent = world.modelCalls
    .filter(({ tenant }) => tenant === budget.tenant)
    .reduce((sum, { usd }) => sum + usd, 0);
  if (spent > budget.usd + 1e-9)
    world.report('budget', `${budget.tenant} spent $${spent.toFixed(3)} of $${budget.usd.toFixed(3)}`);
}
