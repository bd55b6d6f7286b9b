// Runs as rows, the latest first, asked for again while somebody looks.
import type { JSX } from 'preact';
import type { FleetRun } from '../../../src/core/index.ts';
import { duration, money, short } from '../text/format.ts';
import { Visible } from '../text/markdown-view.tsx';
import { cut, kindWords } from '../text/words.ts';
import { api } from '../wire/api.ts';
import { Failed, Status, Table, When } from './parts.tsx';
import { useNow, usePoll } from './poll.ts';
import { linkTo } from './route.ts';

/** Which runs, how often, and what is said where there are none. */
export type RunTableProps = {
  readonly caption: string;
  readonly filter: Parameters<typeof api.runs>[0];
  readonly ms: number;
  readonly empty: JSX.Element | string;
  /** The address of those before a run; without it no more are offered. */
  readonly older?: (before: string) => string;
};

/** The table of the runs that a filter lets through. */
export function RunTable({ caption, filter, ms, empty, older }: RunTableProps): JSX.Element {
  const { value, failed } = usePoll((signal) => api.runs(filter, signal), ms, JSON.stringify(filter));
  if (value?.runs.length === 0) return <>{typeof empty === 'string' ? <p class="hint">{empty}</p> : empty}</>;
  return (
    <>
      <Failed failed={failed} />
      <Table
        caption={caption}
        head={['Status', 'What was asked', 'Kind', 'Tenant', '#Waited', '#Took', '#Tokens', '#Cost', 'Queued']}
      >
        {(value?.runs ?? []).map((run) => (
          <Row key={run.id} run={run} />
        ))}
      </Table>
      {older && value && value.runs.length >= (filter.most ?? 100) ? (
        <p class="pages">
          <a href={older(value.runs.at(-1)?.id ?? '')}>Older runs</a>
        </p>
      ) : null}
    </>
  );
}

function Row({ run }: { readonly run: FleetRun }): JSX.Element {
  const now = useNow(run.status === 'ended' ? 60_000 : 1000);
  const spent = run.outcome?.spent;
  const begun = run.started === undefined ? undefined : Date.parse(run.started);
  const queued = Date.parse(run.queued);
  const again = run.attempts - 1;
  return (
    <tr>
      <td>
        <Status run={run} />
      </td>
      <td class="words">
        <a href={linkTo('runs', run.id)}>
          <bdi>
            <Visible text={cut(run.words.replaceAll(/\s+/g, ' '), 140)} />
          </bdi>
        </a>
        {again > 0 ? <span class="hint"> continued {again === 1 ? 'once' : `${again} times`}</span> : null}
      </td>
      <td>
        {run.parent === undefined ? (
          kindWords(run.kind)
        ) : (
          <>
            part of <a href={linkTo('runs', run.parent)}>{run.parent.slice(0, 8)}</a>
          </>
        )}
      </td>
      <td>{run.tenant}</td>
      <td class="number">{duration((begun ?? now) - queued)}</td>
      <td class="number">
        {begun === undefined ? '' : duration((run.ended === undefined ? now : Date.parse(run.ended)) - begun)}
      </td>
      <td class="number">{spent ? short(spent.input + spent.output) : ''}</td>
      <td class="number">
        {spent ? (spent.turnsWithoutPrice > 0 && spent.usd === 0 ? 'not known' : money(spent.usd)) : ''}
      </td>
      <td>
        <When time={run.queued} />
      </td>
    </tr>
  );
}
