// What the fleet is held to and whether it drifts, as tables: each verdict beside the figures it rests on.
import type { JSX } from 'preact';
import { count, duration, interval, percent } from '../text/format.ts';
import type { DriftShape, LatencyShape, ObjectiveShape, RateShape } from '../wire/health-shape.ts';
import { Table } from './parts.tsx';

/** The objectives with their verdicts. */
export function ObjectiveTable({ objectives }: { readonly objectives: readonly ObjectiveShape[] }): JSX.Element {
  if (objectives.length === 0) return <p class="hint">Nothing is set.</p>;
  return (
    <Table
      caption="Objectives over the last 24 hours"
      head={['Objective', 'Target', 'Measured', 'Failures still allowed', 'Verdict']}
    >
      {objectives.map((each) => (
        <tr key={each.id}>
          <td class="words">
            {each.what.replace(
              /within so many milliseconds( of)?/,
              (_, of?: string) => `within ${duration(each.target)}${of ?? ''}`,
            )}
          </td>
          <td>{each.target <= 1 ? percent(each.target) : duration(each.target)}</td>
          <td>{measured(each.measured)}</td>
          <td>{each.budgetLeft === null ? '' : each.budgetLeft > 0 ? percent(each.budgetLeft) : 'none left'}</td>
          <td>
            <Verdict word={each.verdict} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function measured(value: ObjectiveShape['measured']): string {
  if (value === null) return 'not measured';
  if ('rate' in value) return rateWords(value);
  const [low, high] = value.interval;
  const runs = `${duration(value.value)} over ${value.of === 1 ? '1 run' : `${count(value.of)} runs`}`;
  if (low === null && high === null) return `${runs} (too few to bound it)`;
  if (low === null || high === null)
    return `${runs} (${low === null ? `at most ${duration(high ?? 0)}` : `at least ${duration(low)}`})`;
  return `${runs} (${duration(low)} to ${duration(high)})`;
}

const rateWords = (value: RateShape): string =>
  value.rate === null
    ? 'not measured'
    : `${percent(value.rate)}, ${count(value.good)} of ${count(value.total)} (${interval(value.interval)})`;

/** The drift of each figure. */
export function DriftTable({ drifts }: { readonly drifts: readonly DriftShape[] }): JSX.Element {
  if (drifts.length === 0) return <p class="hint">Not measured.</p>;
  return (
    <Table caption="Today against the week before" head={['Figure', 'Today', 'Before', 'Change', 'Verdict']}>
      {drifts.map((each) => (
        <tr key={each.id}>
          <td class="words">{each.what}</td>
          <td>{figure(each.today)}</td>
          <td>{figure(each.baseline)}</td>
          <td>{change(each)}</td>
          <td>
            <Verdict word={each.verdict} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function figure(value: RateShape | LatencyShape): string {
  if ('rate' in value) return value.rate === null ? 'not measured' : `${percent(value.rate)} of ${count(value.total)}`;
  return value.ms === null ? 'not measured' : `${duration(value.ms)}, ${count(value.runs)} runs`;
}

function change({ change: found, as }: DriftShape): string {
  if (!found) return '';
  const [low, high] = found.interval;
  const write = (value: number | null): string => {
    if (value === null) return '?';
    return as === 'ratio' ? `${value.toFixed(2)}×` : `${value >= 0 ? '+' : '−'}${percent(Math.abs(value))}`;
  };
  return `${write(found.value)} (${write(low)} to ${write(high)})`;
}

function Verdict({ word }: { readonly word: string }): JSX.Element {
  const tone = word === 'missed' || word === 'drifted' ? 'bad' : word === 'met' || word === 'steady' ? 'good' : 'open';
  return <span class={`verdict ${tone}`}>{word}</span>;
}
