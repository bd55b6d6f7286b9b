// `/cost`: what a session has used, per model and per turn, with what nobody told us kept apart from what is known.
import type { Event, Usage } from '../../core/index.ts';
import { pathOf } from './path.ts';

/** Tokens and dollars. What is unknown is counted, never taken for nothing. */
export type Cost = {
  readonly turns: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Dollars at known prices for counts that the provider gave. */
  readonly usd: number;
  /** Dollars that are our estimate. */
  readonly estimatedUsd: number;
  /** Turns whose price is unknown. */
  readonly unpriced: number;
  /** Turns whose tokens the provider did not count. */
  readonly uncounted: number;
};

/** One turn's cost. `abandoned`: on a branch that is no longer continued; the money is gone all the same. */
export type TurnCost = {
  readonly turn: number;
  readonly model: string;
  readonly time: string;
  readonly failed: boolean;
  readonly abandoned: boolean;
  readonly cost: Cost;
};

/** What all branches of a session have used together. */
export type Costs = {
  readonly total: Cost;
  readonly models: readonly { readonly model: string; readonly cost: Cost }[];
  readonly turns: readonly TurnCost[];
};

const nothing: Cost = {
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

/** The name under which the runs of sub-agents are counted: only their sum is told. */
const children = 'sub-agents';

/** Adds up what these events cost. */
export function costs(events: readonly Event[]): Costs {
  const models = modelsAt(events);
  const onPath = new Set(pathOf(events).map((event) => event.id));
  const turns = events.flatMap((event): readonly TurnCost[] => {
    const used = costOfEvent(event, models.get(event.id) ?? '');
    return used ? [{ ...used, time: event.time, abandoned: !onPath.has(event.id) }] : [];
  });
  const perModel = new Map<string, Cost>();
  for (const { model, cost } of turns) perModel.set(model, plus(perModel.get(model) ?? nothing, cost));
  return {
    total: turns.reduce((sum, each) => plus(sum, each.cost), nothing),
    models: [...perModel].map(([model, cost]) => ({ model, cost })),
    turns,
  };
}

/** The model in use at each failed turn, which does not name its own. */
function modelsAt(events: readonly Event[]): ReadonlyMap<string, string> {
  const models = new Map<string, string>();
  for (const event of events)
    models.set(event.id, event.type === 'epoch-started' ? event.model : (models.get(event.parent ?? '') ?? ''));
  return models;
}

function costOfEvent(event: Event, model: string): Omit<TurnCost, 'time' | 'abandoned'> | undefined {
  if (event.type === 'turn-ended') {
    const { turn, usage, usd, estimated = false } = event;
    return { turn, model: event.model, failed: false, cost: costOfTurn(usage, usd, estimated) };
  }
  // What an answer that broke off used is an estimate from the start.
  if (event.type === 'turn-failed' && event.usage)
    return { turn: event.turn, model, failed: true, cost: costOfTurn(event.usage, event.usd, true) };
  if (event.type !== 'tool-ended' || !event.spent) return undefined;
  const {
    turns = 0,
    input = 0,
    output = 0,
    cacheRead = 0,
    cacheWrite = 0,
    usd = 0,
    turnsWithoutPrice: unpriced = 0,
  } = event.spent;
  const cost = { ...nothing, turns, input, output, cacheRead, cacheWrite, usd, unpriced };
  return { turn: 0, model: children, failed: false, cost };
}

function costOfTurn(usage: Usage, usd: number | undefined, estimated: boolean): Cost {
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

const plus = (a: Cost, b: Cost): Cost => ({
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
