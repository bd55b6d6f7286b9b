// The scenarios: which runs a schedule has, what users do meanwhile, and what may come of it.
import type { InboxMessage, JsonObject, NewRun, StopReason, TenantBudget } from '../src/core/index.ts';
import { maxClockLeadMs } from './faults.ts';
import type { ProviderFaults } from './provider.ts';
import type { Random } from './random.ts';

/** Something that a user does at a time. */
export type UserAction =
  | { readonly type: 'enqueue'; readonly at: number; readonly runs: readonly NewRun[] }
  | { readonly type: 'message'; readonly at: number; readonly session: string; readonly message: InboxMessage }
  | { readonly type: 'cancel'; readonly at: number; readonly run: string }
  /** Cancels one step of a plan, or sends it a message, if it has not ended. */
  | { readonly type: 'cancel-step' | 'steer-step'; readonly at: number; readonly run: string; readonly step: string }
  | { readonly type: 'stop-fleet' | 'resume-fleet'; readonly at: number }
  | { readonly type: 'schedule'; readonly at: number; readonly name: string; readonly run: Omit<NewRun, 'id'> }
  /** A worker stops in order, and another one takes its place. */
  | { readonly type: 'stop-worker'; readonly at: number; readonly slot: number };

/** What a schedule simulates. */
export type Scenario = {
  readonly name: string;
  readonly workers: number;
  readonly actions: readonly UserAction[];
  readonly budget?: TenantBudget;
  readonly providerFaults: ProviderFaults;
  /** How a run may end besides with an answer. */
  readonly otherEnds: readonly StopReason[];
  /** How likely users reject a call that needs an approval. */
  readonly rejections: number;
  /** About how many counted calls the workers make without faults. */
  readonly calls: number;
  /** The largest clock error, in milliseconds. */
  readonly maxLeadMs: number;
  /** The virtual time within which all runs must have ended. */
  readonly limitMs: number;
};

type Draft = Pick<Scenario, 'actions' | 'calls'> & Partial<Scenario>;

/** Creates the scenarios by name; each schedule draws its own variant. */
const drafts: Readonly<Record<string, (random: Random) => Draft>> = {
  effects: (random) => {
    const runs = drawRuns(random, 1 + random.index(3), ['pay', 'book', 'mail', 'look']);
    return { actions: [{ type: 'enqueue', at: 0, runs }], calls: 24 * runs.length };
  },
  approvals: (random) => {
    const runs = drawRuns(random, 1 + random.index(2), ['wire', 'wire', 'pay', 'look']);
    return { actions: [{ type: 'enqueue', at: 0, runs }], rejections: 0.3, calls: 30 * runs.length };
  },
  messages: (random) => {
    const runs = drawRuns(random, 1 + random.index(2), ['look', 'mail', 'book']);
    const messages = Array.from({ length: 1 + random.index(3) }, (_, i): UserAction => {
      const session = random.pick(runs).id ?? '';
      const type = random.pick(['steer', 'follow-up', 'prompt'] as const);
      return { type: 'message', at: random.between(5, 900), session, message: { type, text: `message ${i}` } };
    });
    return { actions: [{ type: 'enqueue', at: 0, runs }, ...messages], calls: 30 * runs.length };
  },
  cancel: (random) => {
    const runs = drawRuns(random, 2, ['pay', 'look', 'wire']);
    const run = random.pick(runs).id ?? '';
    const cancel: UserAction = { type: 'cancel', at: random.between(1, 1200), run };
    return { actions: [{ type: 'enqueue', at: 0, runs }, cancel], otherEnds: ['cancelled'], calls: 40 };
  },
  session: (random) => {
    const runs = drawRuns(random, 2 + random.index(2), ['pay', 'mail', 'look']).map((run) => ({
      ...run,
      session: 's',
    }));
    const actions = runs.map((run): UserAction => ({ type: 'enqueue', at: random.between(0, 400), runs: [run] }));
    return { actions, calls: 24 * runs.length };
  },
  budget: (random) => {
    const runs = drawRuns(random, 3, ['look', 'mail', 'look']).map((run) => ({ ...run, tenant: 'acme' }));
    return {
      actions: [{ type: 'enqueue', at: 0, runs }],
      budget: { tenant: 'acme', period: 'ever', usd: random.between(0.2, 1.5) },
      otherEnds: ['money-budget'],
      calls: 40,
    };
  },
  'kill-switch': (random) => {
    const runs = drawRuns(random, 2, ['pay', 'look', 'book', 'mail']);
    const at = random.between(10, 700);
    return {
      actions: [
        { type: 'enqueue', at: 0, runs },
        { type: 'stop-fleet', at },
        { type: 'resume-fleet', at: at + random.between(4000, 9000) },
      ],
      calls: 48,
    };
  },
  plan: (random) => {
    const steps = random.pick([
      [step('a'), step('b', 'a')],
      [step('a'), step('b'), step('c', 'a', 'b')],
      [step('a'), step('b', 'a'), step('c', 'a')],
    ]);
    const plan: NewRun = { id: 'plan', kind: 'plan', prompt: 'Do all of it.', settings: { steps } };
    const changes = (['cancel-step', 'steer-step'] as const).flatMap((type): readonly UserAction[] =>
      random.chance(0.3)
        ? [{ type, at: random.between(100, 2500), run: 'plan', step: random.pick(['a', 'b', 'c']) }]
        : [],
    );
    return {
      actions: [{ type: 'enqueue', at: 0, runs: [plan] }, ...changes],
      otherEnds: changes.some(({ type }) => type === 'cancel-step') ? ['cancelled'] : [],
      calls: 110,
      limitMs: 240_000,
    };
  },
  schedule: (random) => ({
    actions: [
      {
        type: 'schedule',
        at: random.between(0, 14_000),
        name: 'tick',
        run: { prompt: 'Tick.', settings: { turns: [['mail']] } },
      },
    ],
    calls: 26,
  }),
  rest: (random) => {
    const runs = drawRuns(random, 1, ['pay', 'look']);
    return {
      actions: [{ type: 'enqueue', at: 0, runs }],
      providerFaults: { failures: 0, rateLimits: 0.2 },
      calls: 30,
      limitMs: 900_000,
      maxLeadMs: 60_000,
      workers: 1,
    };
  },
  restart: (random) => {
    const runs = drawRuns(random, 2, ['pay', 'book', 'wire']);
    const stops = [0, 1].map((slot): UserAction => ({ type: 'stop-worker', at: random.between(5, 1500), slot }));
    return { actions: [{ type: 'enqueue', at: 0, runs }, ...stops], calls: 60 };
  },
};

/** The names of the scenarios. */
export const scenarioNames: readonly string[] = Object.keys(drafts);

/** Draws the scenario of a schedule. */
export function drawScenario(random: Random, only?: string): Scenario {
  const name = only ?? drawName(random);
  const draft = drafts[name];
  if (!draft) throw new RangeError(`There is no scenario ${name}: use one of ${scenarioNames.join(', ')}.`);
  return {
    name,
    workers: 1 + random.index(3),
    providerFaults: { failures: random.pick([0, 0, 0.08]), rateLimits: 0 },
    otherEnds: [],
    rejections: 0,
    limitMs: 180_000,
    maxLeadMs: maxClockLeadMs,
    ...draft(random),
  };
}

/** A rest takes minutes of virtual time, so that it is drawn less often. */
const drawName = (random: Random): string => {
  const name = random.pick(scenarioNames);
  return name === 'rest' && random.chance(0.8) ? 'effects' : name;
};

function drawRuns(random: Random, count: number, tools: readonly string[]): readonly NewRun[] {
  return Array.from({ length: count }, (_, i): NewRun => {
    const turns = Array.from({ length: 1 + random.index(2) }, () =>
      Array.from({ length: random.chance(0.25) ? 2 : 1 }, () => random.pick(tools)),
    );
    return { id: `r${i}`, prompt: `Do ${i}.`, settings: { turns } };
  });
}

const step = (id: string, ...after: readonly string[]): JsonObject => ({ id, words: `Do ${id}.`, after });
