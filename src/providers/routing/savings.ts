// Savings report: actual cost against one model for everything, computed per turn; unknown costs are separate.
import { usageCost, type Event, type Price, type Usage } from '../../core/index.ts';

/** Turns of one model. */
export type ModelShare = {
  readonly model: string;
  readonly turns: number;
  readonly input: number;
  readonly output: number;
  /** Their known cost. */
  readonly usd: number;
  /** Turns with unknown price. */
  readonly unpriced: number;
  /** Turns with unknown tokens. */
  readonly uncounted: number;
};

/** The cost with one model, between a perfect cache and no cache; absent if its price is unknown. */
export type Savings = {
  readonly shares: readonly ModelShare[];
  readonly spent: number;
  readonly unpriced: number;
  readonly uncounted: number;
  readonly instead: { readonly least: number; readonly most: number } | undefined;
};

/** The events of a session in log order. */
export type SessionEvents = readonly Event[];

/** Sums the cost of sessions and the cost of another model for the same tokens. */
export function savingsOf(sessions: Iterable<SessionEvents>, price: Price | undefined): Savings {
  const shares = new Map<string, ModelShare>();
  let [minUsd, maxUsd] = [0, 0];
  for (const events of sessions) {
    let before = 0;
    for (const event of events) {
      if (event.type === 'epoch-started' && event.reason !== 'model-changed') before = 0;
      if (event.type !== 'turn-ended') continue;
      shares.set(event.model, addTurn(shares.get(event.model) ?? emptyShare(event.model), event));
      const { input, output } = event.usage;
      if (input === undefined || output === undefined) continue;
      if (price) {
        minUsd += usageCost(price, withFullCache({ input, output }, before)) ?? 0;
        maxUsd += usageCost(price, { input, output }) ?? 0;
      }
      before = input + output;
    }
  }
  const modelShares = [...shares.values()];
  const sum = (key: 'usd' | 'unpriced' | 'uncounted'): number =>
    modelShares.reduce((total, each) => total + each[key], 0);
  return {
    shares: modelShares,
    spent: sum('usd'),
    unpriced: sum('unpriced'),
    uncounted: sum('uncounted'),
    instead: price && { least: minUsd, most: maxUsd },
  };
}

/** The same tokens with the previous request read from cache. */
function withFullCache({ input, output }: Usage & { input: number; output: number }, before: number): Usage {
  const cacheRead = Math.min(input, before);
  return { input, output, cacheRead };
}

const emptyShare = (model: string): ModelShare => ({
  model,
  turns: 0,
  input: 0,
  output: 0,
  usd: 0,
  unpriced: 0,
  uncounted: 0,
});

function addTurn(share: ModelShare, { usage, usd }: Event & { type: 'turn-ended' }): ModelShare {
  return {
    model: share.model,
    turns: share.turns + 1,
    input: share.input + (usage.input ?? 0),
    output: share.output + (usage.output ?? 0),
    usd: share.usd + (usd ?? 0),
    unpriced: share.unpriced + (usd === undefined ? 1 : 0),
    uncounted: share.uncounted + (usage.input === undefined || usage.output === undefined ? 1 : 0),
  };
}
