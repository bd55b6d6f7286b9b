// The cost of the latest ended runs by the model that they named.
import type { JSX } from 'preact';
import type { FleetRun } from '../../../src/core/index.ts';
import { api } from '../api/client.ts';
import { usePoll } from '../hooks/use-poll.ts';
import { formatCompact, formatCount, formatUsd } from '../text/format.ts';
import { EscapedText } from './escaped-text.tsx';
import { DataTable } from './primitives.tsx';

/** Runs that are counted, the latest first. */
const maxRuns = 500;

type ModelCost = {
  readonly model: string;
  readonly runs: number;
  readonly usd: number;
  readonly tokens: number;
  /** Runs with calls whose price is unknown. */ readonly unpriced: number;
};

/** A table of cost by model; nothing until a run has ended. */
export function ModelCosts(): JSX.Element | null {
  const { value } = usePoll((signal) => api.runs({ status: 'ended', limit: maxRuns }, signal), 10_000);
  const defaultModel = usePoll((signal) => api.options(signal), 60_000).value?.models[0];
  const costs = sumByModel(value?.runs ?? [], defaultModel ?? 'default');
  const total = costs.reduce((sum, { usd }) => sum + usd, 0);
  if (costs.length === 0) return null;
  return (
    <>
      <h2>Cost by model</h2>
      <p class="hint">
        Of the latest {formatCount(costs.reduce((sum, { runs }) => sum + runs, 0))} ended runs, {formatUsd(total)} in
        total.
      </p>
      <DataTable caption="Cost by model" head={['Model', '#Runs', '#Tokens', '#Cost', '#Cost per run']}>
        {costs.map(({ model, runs, usd, tokens, unpriced }) => (
          <tr key={model}>
            <td>
              <EscapedText text={model} />
            </td>
            <td class="number">{formatCount(runs)}</td>
            <td class="number">{formatCompact(tokens)}</td>
            <td
              class="number"
              title={unpriced > 0 ? `The price of ${formatCount(unpriced)} runs is unknown.` : undefined}
            >
              {unpriced === runs ? 'unknown' : `${unpriced > 0 ? 'at least ' : ''}${formatUsd(usd)}`}
            </td>
            <td class="number">{unpriced > 0 ? '' : formatUsd(usd / runs)}</td>
          </tr>
        ))}
      </DataTable>
    </>
  );
}

/** Sums the cost of runs by the model that they named, the most expensive first. */
function sumByModel(runs: readonly FleetRun[], defaultModel: string): readonly ModelCost[] {
  const sums = new Map<string, ModelCost>();
  for (const { settings, outcome } of runs) {
    if (!outcome) continue;
    const model = typeof settings['model'] === 'string' ? settings['model'] : defaultModel;
    const {
      runs: count,
      usd,
      tokens,
      unpriced,
    } = sums.get(model) ?? { model, runs: 0, usd: 0, tokens: 0, unpriced: 0 };
    const { spent } = outcome;
    const isPriced = spent.turnsWithoutPrice === 0;
    sums.set(model, {
      model,
      runs: count + 1,
      usd: usd + spent.usd,
      tokens: tokens + spent.input + spent.output,
      unpriced: unpriced + (isPriced ? 0 : 1),
    });
  }
  return [...sums.values()].toSorted((a, b) => b.usd - a.usd || b.tokens - a.tokens);
}
