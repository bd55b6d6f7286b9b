// Screen of the fleet: queue, workers, limits and schedules.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { QueueLimits, Schedule, WorkerInfo } from '../../../src/core/index.ts';
import { formatCount } from '../text/format.ts';
import { EscapedText } from '../components/escaped-text.tsx';
import { truncate } from '../text/labels.ts';
import { countActiveRuns, isWorkerSilent } from '../state/worker-liveness.ts';
import { usePermission } from '../hooks/use-permission.ts';
import {
  EmptyState,
  ErrorMessage,
  FormField,
  ConfirmButton,
  DataTable,
  PageTitle,
  RelativeTime,
} from '../components/primitives.tsx';
import { useNow, usePoll, useSubmit } from '../hooks/use-poll.ts';
import { api } from '../api/client.ts';
import type { QueueStatus } from '../api/types.ts';
import { linkTo } from '../state/router.ts';
import { QueueMetrics } from './runs.tsx';

/** The fleet screen. */
export function FleetScreen(): JSX.Element {
  const { value, error, refresh } = usePoll((signal) => api.queue(signal), 2000);
  return (
    <>
      <PageTitle>Fleet</PageTitle>
      <ErrorMessage failed={error} />
      <QueueMetrics status={value} />
      <h2>Workers</h2>
      {value?.workers.length === 0 ? (
        <EmptyState icon="fleet" title="No worker is running.">
          <p>
            Queued runs wait for a worker. Start one with <code>fairlead worker</code> on any machine that can reach the
            store.
          </p>
        </EmptyState>
      ) : (
        <DataTable
          caption="Workers"
          head={['Worker', 'Machine · process', '#Running', 'Last seen', 'Started', 'Version', '#Memory']}
        >
          {value?.workers.map((worker) => (
            <WorkerRow key={worker.worker} worker={worker} status={value} />
          ))}
        </DataTable>
      )}
      <h2>Limits</h2>
      {value ? <LimitsForm key={JSON.stringify(value.limits)} limits={value.limits} refresh={refresh} /> : null}
      <h2>Schedules</h2>
      {value ? <Schedules schedules={value.schedules} refresh={refresh} /> : null}
    </>
  );
}

function WorkerRow({ worker, status }: { readonly worker: WorkerInfo; readonly status: QueueStatus }): JSX.Element {
  const now = useNow(2000);
  const isSilent = isWorkerSilent(worker, now);
  const problem = isSilent ? 'silent' : worker.blockedMs === undefined ? undefined : 'blocked';
  const bytes = worker.info['memory'] ?? worker.info['rss'];
  return (
    <tr>
      <td>
        <code>{worker.worker}</code>
      </td>
      <td>
        {worker.host} · {worker.pid}
      </td>
      <td class="number">
        <a href={linkTo('runs', undefined, { status: 'running' })}>
          {formatCount(countActiveRuns(worker, status, now))}
        </a>
      </td>
      <td class={problem === undefined ? '' : 'bad'}>
        {problem === undefined ? '' : `${problem}, `}
        <RelativeTime time={worker.lastSeenAt} />
      </td>
      <td>
        <RelativeTime time={worker.startedAt} />
      </td>
      <td>{worker.version}</td>
      <td class="number">{typeof bytes === 'number' ? `${Math.round(bytes / 1_048_576)} MB` : 'unknown'}</td>
    </tr>
  );
}

type RefreshProps = { readonly refresh: () => void };

function LimitsForm({ limits, refresh }: { readonly limits: QueueLimits } & RefreshProps): JSX.Element {
  const may = usePermission('operator');
  const { busy, error, submit } = useSubmit();
  const [typed, setTyped] = useState({
    concurrency: String(limits.concurrency ?? ''),
    tenantConcurrency: String(limits.tenantConcurrency ?? ''),
    runs: String(limits.rate?.runs ?? ''),
    seconds: limits.rate ? String(limits.rate.ms / 1000) : '',
  });
  const field = (name: keyof typeof typed): JSX.Element => (
    <input
      inputMode="numeric"
      value={typed[name]}
      disabled={!may}
      pattern={name === 'seconds' ? '[0-9]+([.][0-9]+)?' : '[0-9]+'}
      title={name === 'seconds' ? 'A number such as 60 or 0.5' : 'A whole number'}
      required={(name === 'runs' && typed.seconds !== '') || (name === 'seconds' && typed.runs !== '')}
      placeholder="no limit"
      onInput={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
    />
  );
  const keep = (): void =>
    submit(async () => {
      const number = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text));
      const [concurrency, tenantConcurrency, runs, seconds] = [
        typed.concurrency,
        typed.tenantConcurrency,
        typed.runs,
        typed.seconds,
      ].map(number);
      await api.setQueueLimits({
        ...(concurrency === undefined ? {} : { concurrency }),
        ...(tenantConcurrency === undefined ? {} : { tenantConcurrency }),
        ...(runs === undefined || seconds === undefined ? {} : { rate: { runs, ms: Math.round(seconds * 1000) } }),
      });
      refresh();
    });
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        keep();
      }}
    >
      <FormField name="Max concurrent runs" hint="Across all workers.">
        {field('concurrency')}
      </FormField>
      <FormField name="Max per tenant" hint="Concurrent runs of one tenant.">
        {field('tenantConcurrency')}
      </FormField>
      <FormField name="Max new runs" hint="Across all workers.">
        {field('runs')}
      </FormField>
      <FormField name="per seconds" hint="Set both or neither.">
        {field('seconds')}
      </FormField>
      {may ? (
        <button type="submit" disabled={busy}>
          Set limits
        </button>
      ) : (
        <p class="hint">Changing the limits needs an operator key.</p>
      )}
      <ErrorMessage failed={error} />
    </form>
  );
}

const formatUtc = (now: number): string => {
  const date = new Date(now);
  return `${date.toLocaleDateString('en-GB', { weekday: 'long', timeZone: 'UTC' })}, ${date.toISOString().slice(11, 16)}`;
};

function Schedules({ schedules, refresh }: { readonly schedules: readonly Schedule[] } & RefreshProps): JSX.Element {
  const may = usePermission('runner');
  const { busy, error, submit } = useSubmit();
  const now = useNow(10_000);
  const [typed, setTyped] = useState({ name: '', cron: '', words: '' });
  const act = (work: () => Promise<unknown>): void =>
    submit(async () => {
      await work();
      refresh();
    });
  const add = (): void =>
    act(async () => {
      await api.setSchedule({ name: typed.name.trim(), cron: typed.cron.trim(), run: { prompt: typed.words } });
      setTyped({ name: '', cron: '', words: '' });
    });
  return (
    <>
      {schedules.length === 0 ? (
        <p class="hint">No schedules. A schedule starts the same run at fixed times.</p>
      ) : (
        <DataTable caption="Schedules" head={['Name', 'When (UTC)', 'Prompt', '']}>
          {schedules.map((each) => (
            <tr key={each.name}>
              <td>{each.name}</td>
              <td>
                <code>{each.cron}</code>
              </td>
              <td class="words">
                <EscapedText text={truncate(each.run.prompt, 200)} />
              </td>
              <td>
                {may ? (
                  <ConfirmButton
                    name="Remove"
                    of={each.name}
                    disabled={busy}
                    act={() => act(() => api.deleteSchedule(each.name))}
                  />
                ) : null}
              </td>
            </tr>
          ))}
        </DataTable>
      )}
      {may ? (
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
            add();
          }}
        >
          <FormField name="Name">
            <input
              required
              value={typed.name}
              spellcheck={false}
              onInput={(event) => setTyped({ ...typed, name: event.currentTarget.value })}
            />
          </FormField>
          <FormField name="When, in UTC" hint={`Minute, hour, day, month, weekday. Now: ${formatUtc(now)}.`}>
            <input
              required
              value={typed.cron}
              spellcheck={false}
              placeholder="0 7 * * 1-5"
              onInput={(event) => setTyped({ ...typed, cron: event.currentTarget.value })}
            />
          </FormField>
          <FormField name="Prompt">
            <input
              required
              value={typed.words}
              onInput={(event) => setTyped({ ...typed, words: event.currentTarget.value })}
            />
          </FormField>
          <button type="submit" disabled={busy}>
            Add schedule
          </button>
        </form>
      ) : null}
      <ErrorMessage failed={error} />
    </>
  );
}
