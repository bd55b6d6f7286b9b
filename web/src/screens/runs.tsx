// Screen of all runs, latest first, with filters.
import type { JSX } from 'preact';
import { api } from '../api/client.ts';
import type { QueueStatus } from '../api/types.ts';
import { isWorkerSilent } from '../state/worker-liveness.ts';
import { FilterChip, SearchField } from '../components/filters.tsx';
import { Icon } from '../components/icon.tsx';
import { EmptyState, Metric, PageTitle } from '../components/primitives.tsx';
import { linkTo, replaceQuery } from '../state/router.ts';
import { SavedViews } from '../components/saved-views.tsx';
import { RunTable } from '../components/run-table.tsx';
import { formatCount, formatDuration, formatTime } from '../text/format.ts';
import { useNow, usePoll } from '../hooks/use-poll.ts';

/** The filters that are one click away: a status, or the class of the outcome. */
const views = [
  { name: 'All', status: '', outcome: '' },
  { name: 'Queued', status: 'queued', outcome: '' },
  { name: 'Running', status: 'running', outcome: '' },
  { name: 'Waiting', status: 'waiting', outcome: '' },
  { name: 'Answered', status: 'ended', outcome: 'answered' },
  { name: 'Failed', status: 'ended', outcome: 'error' },
  { name: 'Abstained', status: 'ended', outcome: 'abstained' },
  { name: 'Out of limits', status: 'ended', outcome: 'limited' },
  { name: 'Cancelled', status: 'ended', outcome: 'cancelled' },
] as const;

const filterNames = ['status', 'outcome', 'since', 'q', 'tenant', 'session'] as const;

/** Runs per page. */
const pageSize = 50;

/** The runs screen; the query is the filter, so that it can be linked to. */
export function RunsScreen({ query }: { readonly query: string }): JSX.Element {
  const params = new URLSearchParams(query);
  const wanted = Object.fromEntries(filterNames.map((name) => [name, params.get(name)?.trim() ?? ''])) as Record<
    (typeof filterNames)[number],
    string
  >;
  const before = params.get('before') ?? '';
  const filter = {
    ...Object.fromEntries(Object.entries({ ...wanted, before }).filter(([, value]) => value !== '')),
    limit: pageSize,
  };
  const isFiltered = Object.values(wanted).some((value) => value !== '');
  const change = (patch: Partial<typeof wanted>): void => replaceQuery('runs', { ...wanted, ...patch });
  const queue = usePoll((signal) => api.queue(signal), 2000);
  return (
    <>
      <PageTitle
        beside={
          <a class="button primary" href={linkTo('ask')}>
            <Icon name="add" size={14} /> New run
          </a>
        }
      >
        Runs
      </PageTitle>
      <QueueMetrics status={queue.value} />
      <div class="toolbar" role="search">
        <div class="choices" role="group" aria-label="Status">
          {views.map(({ name, status, outcome }) => (
            <button
              key={name}
              type="button"
              aria-pressed={wanted.status === status && wanted.outcome === outcome}
              onClick={() => change({ status, outcome })}
            >
              {name}
            </button>
          ))}
        </div>
        <SearchField label="Search runs" value={wanted.q} change={(q) => change({ q })} />
        <input
          class="tenant"
          aria-label="Tenant"
          placeholder="Tenant"
          value={wanted.tenant}
          spellcheck={false}
          onInput={(event) => change({ tenant: event.currentTarget.value })}
        />
        {wanted.session === '' ? null : (
          <FilterChip name={`session ${wanted.session.slice(0, 8)}`} remove={() => change({ session: '' })} />
        )}
        {wanted.since === '' ? null : (
          <FilterChip
            name={`ended since ${formatTime(wanted.since, Date.now())}`}
            remove={() => change({ since: '' })}
          />
        )}
      </div>
      <SavedViews screen="runs" filter={wanted} />
      {before === '' ? null : (
        <p class="pages">
          Older runs. <a href={linkTo('runs', undefined, wanted)}>Back to the latest</a>
        </p>
      )}
      <RunTable
        caption="Runs, latest first"
        filter={filter}
        olderHref={(last) => linkTo('runs', undefined, { ...wanted, before: last })}
        intervalMs={before === '' ? 2000 : 10_000}
        emptyState={
          before !== '' ? (
            <p class="hint">No older runs.</p>
          ) : isFiltered ? (
            <EmptyState icon="search" title="No runs match this filter.">
              <p>
                <a href={linkTo('runs')}>Show all runs</a>
              </p>
            </EmptyState>
          ) : (
            <EmptyState icon="runs" title="No runs yet.">
              <p>
                Start one in <a href={linkTo('ask')}>Ask</a>, or from a terminal:{' '}
                <code>fairlead enqueue "&lt;prompt&gt;"</code>
              </p>
            </EmptyState>
          )
        }
      />
    </>
  );
}

/** The numbers of queued, running and waiting runs. */
export function QueueMetrics({ status: value }: { readonly status: QueueStatus | undefined }): JSX.Element {
  const now = useNow();
  const depth = value?.depth;
  const awake = value?.workers.filter((worker) => !isWorkerSilent(worker, now)).length ?? 0;
  return (
    <dl class="figures">
      <Metric
        name="Queued"
        value={depth ? formatCount(depth.queued) : '–'}
        href={linkTo('runs', undefined, { status: 'queued' })}
        note={depth && (depth.oldest ? `oldest ${formatDuration(now - Date.parse(depth.oldest))}` : 'queue is empty')}
      />
      <Metric
        name="Running"
        value={depth ? formatCount(depth.running) : '–'}
        href={linkTo('runs', undefined, { status: 'running' })}
        note={value ? `${formatCount(awake)} ${awake === 1 ? 'worker' : 'workers'}` : ''}
      />
      <Metric
        name="Waiting"
        value={depth ? formatCount(depth.waiting) : '–'}
        href={linkTo('runs', undefined, { status: 'waiting' })}
        note="on approval or child runs"
      />
    </dl>
  );
}
