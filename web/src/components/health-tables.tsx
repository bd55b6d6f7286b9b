// Tables of objectives and drift, each verdict with its measured values.
import type { JSX } from 'preact';
import { formatCount, formatDuration, formatPercentInterval, formatPercent } from '../text/format.ts';
import type { HealthDrift, HealthLatency, HealthObjective, HealthRate } from '../api/health-types.ts';
import { EscapedText } from './escaped-text.tsx';
import { DataTable } from './primitives.tsx';

/** The objectives with their verdicts. */
export function ObjectiveTable({ objectives }: { readonly objectives: readonly HealthObjective[] }): JSX.Element {
  if (objectives.length === 0) return <p class="hint">No objectives are set.</p>;
  return (
    <DataTable
      caption="Objectives over the last 24 hours"
      head={['Objective', 'Target', 'Measured', 'Error budget left', 'Verdict']}
    >
      {objectives.map((each) => (
        <tr key={each.id}>
          <td class="words">
            {each.description.replace(
              /within so many milliseconds( of)?/,
              (_, of?: string) => `within ${formatDuration(each.target)}${of ?? ''}`,
            )}
          </td>
          <td>{each.target <= 1 ? formatPercent(each.target) : formatDuration(each.target)}</td>
          <td>{formatObjectiveValue(each.measured)}</td>
          <td>{each.budgetLeft === null ? '' : each.budgetLeft > 0 ? formatPercent(each.budgetLeft) : 'none left'}</td>
          <td>
            <VerdictBadge word={each.verdict} />
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

function formatObjectiveValue(value: HealthObjective['measured']): string {
  if (value === null) return 'not measured';
  if ('rate' in value) return formatRate(value);
  const [low, high] = value.interval;
  const runs = `${formatDuration(value.value)} over ${value.count === 1 ? '1 run' : `${formatCount(value.count)} runs`}`;
  if (low === null && high === null) return `${runs} (too few for an interval)`;
  if (low === null || high === null)
    return `${runs} (${low === null ? `at most ${formatDuration(high ?? 0)}` : `at least ${formatDuration(low)}`})`;
  return `${runs} (${formatDuration(low)} to ${formatDuration(high)})`;
}

const formatRate = (value: HealthRate): string =>
  value.rate === null
    ? 'not measured'
    : `${formatPercent(value.rate)}, ${formatCount(value.good)} of ${formatCount(value.total)} (${formatPercentInterval(value.interval)})`;

/** The drift of each metric. */
export function DriftTable({ drifts }: { readonly drifts: readonly HealthDrift[] }): JSX.Element {
  if (drifts.length === 0) return <p class="hint">Not measured.</p>;
  return (
    <DataTable caption="The latest values and those before" head={['Metric', 'Today', 'Before', 'Change', 'Verdict']}>
      {drifts.map((each) => (
        <tr key={each.id}>
          <td class="words">
            <EscapedText text={each.description} />
          </td>
          <td>{formatDriftValue(each.today)}</td>
          <td>{formatDriftValue(each.baseline)}</td>
          <td>{formatDriftChange(each)}</td>
          <td>
            <VerdictBadge word={each.verdict} />
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

function formatDriftValue(value: HealthRate | HealthLatency): string {
  if ('rate' in value)
    return value.rate === null ? 'not measured' : `${formatPercent(value.rate)} of ${formatCount(value.total)}`;
  return value.ms === null ? 'not measured' : `${formatDuration(value.ms)}, ${formatCount(value.runs)} runs`;
}

function formatDriftChange({ change: found, kind }: HealthDrift): string {
  if (!found) return '';
  const [low, high] = found.interval;
  const write = (value: number | null): string => {
    if (value === null) return '?';
    return kind === 'ratio' ? `${value.toFixed(2)}×` : `${value >= 0 ? '+' : '−'}${formatPercent(Math.abs(value))}`;
  };
  return `${write(found.value)} (${write(low)} to ${write(high)})`;
}

function VerdictBadge({ word }: { readonly word: string }): JSX.Element {
  const tone = word === 'missed' || word === 'drifted' ? 'bad' : word === 'met' || word === 'steady' ? 'good' : 'open';
  return <span class={`verdict ${tone}`}>{word}</span>;
}
