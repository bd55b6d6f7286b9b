// Cost report: usage per model and per turn; known costs, estimates and unknown prices are separate.
import type { Event, Usage } from '../../core/index.ts';
import { getBranchPath } from './branch-path.ts';

/** Tokens and dollars. Unknown amounts are counted and never treated as zero. */
export type CostTotals = {
  readonly turns: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Dollars at known prices for counts of the provider. */
  readonly usd: number;
  /** Estimated dollars. */
  readonly estimatedUsd: number;
  /** Turns whose price is unknown. */
  readonly unpriced: number;
  /** Turns without token counts of the provider. */
  readonly uncounted: number;
};

/** The cost of one turn. `abandoned`: on another branch than the current one. */
export type TurnCost = {
  readonly turn: number;
  readonly model: string;
  readonly time: string;
  readonly failed: boolean;
  readonly abandoned: boolean;
  readonly cost: CostTotals;
};

/** The usage of all branches of a session. */
export type CostReport = {
  readonly total: CostTotals;
  readonly models: readonly { readonly model: string; readonly cost: CostTotals }[];
  readonly turns: readonly TurnCost[];
};

const zeroCost: CostTotals = {
  turns: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  usd: 0,
  estimatedUsd: 0,
  unpriced: 0,
  uncounted: 0,
};

/** The name under which usage of sub-agents is summed. */
const subagentsLabel = 'sub-agents';

/** Sums the cost of events. */
export function reportCosts(events: readonly Event[]): CostReport {
  const models = modelByEvent(events);
  const onPath = new Set(getBranchPath(events).map((event) => event.id));
  const turns = events.flatMap((event): readonly TurnCost[] => {
    const used = getEventCost(event, models.get(event.id) ?? '');
    return used ? [{ ...used, time: event.time, abandoned: !onPath.has(event.id) }] : [];
  });
  const perModel = new Map<string, CostTotals>();
  for (const { model, cost } of turns) perModel.set(model, addCosts(perModel.get(model) ?? zeroCost, cost));
  return {
    total: turns.reduce((sum, each) => addCosts(sum, each.cost), zeroCost),
    models: [...perModel].map(([model, cost]) => ({ model, cost })),
    turns,
  };
}

/** The model of each failed turn, which does not record its own. */
function modelByEvent(events: readonly Event[]): ReadonlyMap<string, string> {
  const models = new Map<string, string>();
  for (const event of events)
    models.set(event.id, event.type === 'epoch-started' ? event.model : (models.get(event.parent ?? '') ?? ''));
  return models;
}

function getEventCost(event: Event, model: string): Omit<TurnCost, 'time' | 'abandoned'> | undefined {
  if (event.type === 'turn-ended') {
    const { turn, usage, usd, estimated = false } = event;
    return { turn, model: event.model, failed: false, cost: getTurnCost(usage, usd, estimated) };
  }
  // The usage of an interrupted response is an estimate.
  if (event.type === 'turn-failed' && event.usage)
    return { turn: event.turn, model, failed: true, cost: getTurnCost(event.usage, event.usd, true) };
  if (event.type !== 'tool-ended' || !event.spent) return undefined;
  const {
    turns = 0,
    input = 0,
    output = 0,
    cacheRead = 0,
    cacheWrite = 0,
    usd = 0,
    turnsWithoutPrice = 0,
  } = event.spent;
  const cost = { ...zeroCost, turns, input, output, cacheRead, cacheWrite, usd, unpriced: turnsWithoutPrice };
  return { turn: 0, model: subagentsLabel, failed: false, cost };
}

function getTurnCost(usage: Usage, usd: number | undefined, estimated: boolean): CostTotals {
  return {
    turns: 1,
    input: usage.input ?? 0,
    output: usage.output ?? 0,
    cacheRead: usage.cacheRead ?? 0,
    cacheWrite: usage.cacheWrite ?? 0,
    usd: estimated ? 0 : (usd ?? 0),
    estimatedUsd: estimated ? (usd ?? 0) : 0,
    unpriced: usd === undefined ? 1 : 0,
    uncounted: usage.input === undefined || usage.output === undefined ? 1 : 0,
  };
}

const addCosts = (a: CostTotals, b: CostTotals): CostTotals => ({
  turns: a.turns + b.turns,
  input: a.input + b.input,
  output: a.output + b.output,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  usd: a.usd + b.usd,
  estimatedUsd: a.estimatedUsd + b.estimatedUsd,
  unpriced: a.unpriced + b.unpriced,
  uncounted: a.uncounted + b.uncounted,
});
