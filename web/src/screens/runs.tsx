// Screen of all runs, latest first, with filters.
import type { JSX } from 'preact';
import { api } from '../api/client.ts';
import { isWorkerSilent } from '../state/worker-liveness.ts';
import { EmptyState, FormField, Metric, PageTitle } from '../components/primitives.tsx';
import { linkTo, replaceQuery } from '../state/router.ts';
import { RunTable } from '../components/run-table.tsx';
import { formatCount, formatDuration } from '../text/format.ts';
import { useNow, usePoll } from '../hooks/use-poll.ts';

const statusLabels = { '': 'any', queued: 'queued', running: 'running', waiting: 'waiting', ended: 'ended' } as const;

/** Runs per page. */
const pageSize = 50;

/** The runs screen; the query is the filter, so that it can be linked to. */
export function RunsScreen({ query }: { readonly query: string }): JSX.Element {
  const params = new URLSearchParams(query);
  const [status, tenant, session, before] = ['status', 'tenant', 'session', 'before'].map(
    (name) => params.get(name)?.trim() ?? '',
  ) as [string, string, string, string];
  const wanted = { status, tenant, session };
  const filter = {
    ...Object.fromEntries(Object.entries({ ...wanted, before }).filter(([, value]) => value !== '')),
    limit: pageSize,
  };
  const isFiltered = Object.values(wanted).some((value) => value !== '');
  const change = (name: keyof typeof wanted, value: string): void => replaceQuery('runs', { ...wanted, [name]: value });
  return (
    <>
      <PageTitle>Runs</PageTitle>
      <QueueMetrics />
      <form class="filters" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
        <FormField name="Status">
          <select value={status} onChange={(event) => change('status', event.currentTarget.value)}>
            {Object.entries(statusLabels).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </FormField>
        <FormField name="Tenant" hint="Runs without a tenant belong to default.">
          <input value={tenant} spellcheck={false} onInput={(event) => change('tenant', event.currentTarget.value)} />
        </FormField>
        <FormField name="Session" hint="The full session id.">
          <input value={session} spellcheck={false} onInput={(event) => change('session', event.currentTarget.value)} />
        </FormField>
      </form>
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
            <p class="hint">No runs match this filter.</p>
          ) : (
            <EmptyState title="No runs yet.">
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
export function QueueMetrics(): JSX.Element {
  const { value } = usePoll((signal) => api.queue(signal), 2000);
  const now = useNow();
  const depth = value?.depth;
  const awake = value?.workers.filter((worker) => !isWorkerSilent(worker, now)).length ?? 0;
  return (
    <dl class="figures">
      <Metric
        name="Queued"
        value={depth ? formatCount(depth.queued) : '–'}
        note={depth && (depth.oldest ? `oldest ${formatDuration(now - Date.parse(depth.oldest))}` : 'queue is empty')}
      />
      <Metric
        name="Running"
        value={depth ? formatCount(depth.running) : '–'}
        note={value ? `${formatCount(awake)} ${awake === 1 ? 'worker' : 'workers'}` : ''}
      />
      <Metric name="Waiting" value={depth ? formatCount(depth.waiting) : '–'} note="for approval or for child runs" />
    </dl>
  );
}
