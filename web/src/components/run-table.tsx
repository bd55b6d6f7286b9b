// A table of runs, latest first, that polls while the page is visible.
import type { JSX } from 'preact';
import type { FleetRun } from '../../../src/core/index.ts';
import { formatDuration, formatUsd, formatCompact } from '../text/format.ts';
import { EscapedText } from './escaped-text.tsx';
import { truncate, formatRunKind } from '../text/labels.ts';
import { api } from '../api/client.ts';
import { ErrorMessage, StatusBadge, DataTable, RelativeTime } from './primitives.tsx';
import { useNow, usePoll } from '../hooks/use-poll.ts';
import { linkTo } from '../state/router.ts';

/** The filter, the interval and the empty state of the table. */
export type RunTableProps = {
  readonly caption: string;
  readonly filter: Parameters<typeof api.runs>[0];
  readonly intervalMs: number;
  readonly emptyState: JSX.Element | string;
  /** Which of these runs are shown; all by default. */
  readonly isShown?: (run: FleetRun) => boolean;
  /** A heading above the rows, which is absent if there are none. */
  readonly title?: string;
  /** Returns the link to the runs before a run; without it there is no link. */
  readonly olderHref?: (before: string) => string;
};

/** The runs that match a filter. */
export function RunTable({
  caption,
  filter,
  intervalMs,
  emptyState,
  title,
  olderHref,
  isShown = () => true,
}: RunTableProps): JSX.Element {
  const { value, error } = usePoll((signal) => api.runs(filter, signal), intervalMs, JSON.stringify(filter));
  const runs = value?.runs.filter(isShown);
  if (runs?.length === 0) return <>{typeof emptyState === 'string' ? <p class="hint">{emptyState}</p> : emptyState}</>;
  return (
    <>
      <ErrorMessage failed={error} />
      {title === undefined ? null : <h2>{title}</h2>}
      <DataTable
        caption={caption}
        head={['Status', 'Prompt', 'Kind', 'Tenant', '#Queue time', '#Run time', '#Tokens', '#Cost', 'Queued']}
      >
        {(runs ?? []).map((run) => (
          <RunRow key={run.id} run={run} />
        ))}
      </DataTable>
      {olderHref && value && (value.next !== undefined || value.runs.length >= (filter.limit ?? 100)) ? (
        <p class="pages">
          <a href={olderHref(value.next ?? value.runs.at(-1)?.id ?? '')}>Older runs</a>
        </p>
      ) : null}
    </>
  );
}

function RunRow({ run }: { readonly run: FleetRun }): JSX.Element {
  const now = useNow(run.status === 'ended' ? 60_000 : 1000);
  const spent = run.outcome?.spent;
  const started = run.started === undefined ? undefined : Date.parse(run.started);
  const queued = Date.parse(run.queued);
  const again = run.attempts - 1;
  return (
    <tr>
      <td>
        <StatusBadge run={run} />
      </td>
      <td class="words">
        <a href={linkTo('runs', run.id)} data-row>
          <bdi>
            <EscapedText text={truncate(run.prompt.replaceAll(/\s+/g, ' '), 140)} />
          </bdi>
        </a>
        {again > 0 ? <span class="hint"> continued {again === 1 ? 'once' : `${again} times`}</span> : null}
      </td>
      <td>
        {run.parent === undefined ? (
          formatRunKind(run.kind)
        ) : (
          <>
            child of <a href={linkTo('runs', run.parent)}>{run.parent.slice(0, 8)}</a>
          </>
        )}
      </td>
      <td>{run.tenant}</td>
      <td class="number">{formatDuration((started ?? now) - queued)}</td>
      <td class="number">
        {started === undefined ? '' : formatDuration((run.ended === undefined ? now : Date.parse(run.ended)) - started)}
      </td>
      <td class="number">{spent ? formatCompact(spent.input + spent.output) : ''}</td>
      <td class="number">
        {spent ? (spent.turnsWithoutPrice > 0 && spent.usd === 0 ? 'unknown' : formatUsd(spent.usd)) : ''}
      </td>
      <td>
        <RelativeTime time={run.queued} />
      </td>
    </tr>
  );
}
