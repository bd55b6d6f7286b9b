// Compares a run with another one: outcome, model, time, turns, tokens and cost side by side, and the difference of the answers.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { FleetRun } from '../../../src/core/index.ts';
import { api } from '../api/client.ts';
import { usePoll } from '../hooks/use-poll.ts';
import { linkTo } from '../state/router.ts';
import { compareTexts } from '../text/diff.ts';
import { formatCompact, formatCount, formatDuration, formatTime, formatUsd } from '../text/format.ts';
import { formatHeading, formatStopReason } from '../text/labels.ts';
import { DiffView } from './code-view.tsx';
import { EscapedText } from './escaped-text.tsx';
import { DataTable } from './primitives.tsx';

/** Runs that can be chosen, the latest first. */
const maxChoices = 100;

/** A closed section of the screen of an ended run; the runs are loaded when it is opened. */
export function RunComparison({ run }: { readonly run: FleetRun }): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  if (run.status !== 'ended') return null;
  return (
    <details class="run-settings" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Compare with another run</summary>
      {isOpen ? (
        <div class="comparison">
          <ComparisonBody run={run} />
        </div>
      ) : null}
    </details>
  );
}

function ComparisonBody({ run }: { readonly run: FleetRun }): JSX.Element {
  const { value } = usePoll((signal) => api.runs({ status: 'ended', limit: maxChoices }, signal), 30_000);
  const [chosen, setChosen] = useState('');
  const others = (value?.runs ?? []).filter(({ id }) => id !== run.id);
  // Runs of the same prompt are what is compared most often.
  const sorted = others.toSorted((a, b) => Number(b.prompt === run.prompt) - Number(a.prompt === run.prompt));
  const other = others.find(({ id }) => id === chosen);
  if (value && others.length === 0) return <p class="hint">No other run has ended.</p>;
  return (
    <>
      <select aria-label="Other run" value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>
        <option value="">Choose a run</option>
        {sorted.map((each) => (
          <option key={each.id} value={each.id}>
            {`${formatHeading(each.prompt).slice(0, 80)} · ${formatTime(each.ended ?? each.queued, Date.now())} · ${each.id.slice(0, 8)}`}
          </option>
        ))}
      </select>
      {other ? <Comparison run={run} other={other} /> : null}
    </>
  );
}

function Comparison({ run, other }: { readonly run: FleetRun; readonly other: FleetRun }): JSX.Element {
  const [before, after] = [other.outcome?.text ?? '', run.outcome?.text ?? ''];
  return (
    <>
      <DataTable caption="The two runs" head={['', 'This run', 'Other run']}>
        {rows.map(({ name, read }) => {
          const [mine, theirs] = [read(run), read(other)];
          return (
            <tr key={name}>
              <td>{name}</td>
              <td>
                {mine === theirs ? (
                  <EscapedText text={mine} />
                ) : (
                  <strong>
                    <EscapedText text={mine} />
                  </strong>
                )}
              </td>
              <td>
                <EscapedText text={theirs} />
              </td>
            </tr>
          );
        })}
      </DataTable>
      <p>
        <a href={linkTo('runs', other.id)}>Open the other run</a>
      </p>
      {before === after ? (
        <p class="hint">The answers are the same.</p>
      ) : (
        <DiffView lines={compareTexts(before, after)} label="The answer of the other run and of this one" language="" />
      )}
    </>
  );
}

const getTokens = ({ outcome }: FleetRun): string =>
  outcome ? `${formatCompact(outcome.spent.input)} in, ${formatCompact(outcome.spent.output)} out` : '';

const rows: readonly { readonly name: string; readonly read: (run: FleetRun) => string }[] = [
  { name: 'Outcome', read: ({ outcome }) => (outcome ? formatStopReason(outcome.reason) : '') },
  { name: 'Model', read: ({ settings }) => (typeof settings['model'] === 'string' ? settings['model'] : 'default') },
  {
    name: 'Run time',
    read: ({ started, ended }) => (started && ended ? formatDuration(Date.parse(ended) - Date.parse(started)) : ''),
  },
  { name: 'Turns', read: ({ outcome }) => (outcome ? formatCount(outcome.spent.turns) : '') },
  { name: 'Calls', read: ({ outcome }) => (outcome ? formatCount(outcome.spent.calls) : '') },
  { name: 'Tokens', read: getTokens },
  { name: 'Cost', read: ({ outcome }) => (outcome ? formatUsd(outcome.spent.usd) : '') },
];
