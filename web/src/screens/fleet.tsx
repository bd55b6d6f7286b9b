// The fleet: what waits, who works, what holds them back, and what comes again by the clock.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { QueueLimits, Schedule, WorkerInfo } from '../../../src/core/index.ts';
import { count } from '../text/format.ts';
import { Visible } from '../text/markdown-view.tsx';
import { cut } from '../text/words.ts';
import { isSilentAt } from '../view/awake.ts';
import { useMay } from '../view/may.ts';
import { Empty, Failed, Field, Sure, Table, Title, When } from '../view/parts.tsx';
import { useNow, usePoll, useSending } from '../view/poll.ts';
import { api } from '../wire/api.ts';
import { Depth } from './runs.tsx';

/** The screen of the fleet. */
export function FleetScreen(): JSX.Element {
  const { value, failed, again } = usePoll((signal) => api.queue(signal), 2000);
  return (
    <>
      <Title>Fleet</Title>
      <Failed failed={failed} />
      <Depth />
      <h2>Workers</h2>
      {value?.workers.length === 0 ? (
        <Empty title="No worker is at work.">
          <p>
            Queued runs wait until one is. Start one with <code>fairlead worker</code> on any machine that reaches the
            store.
          </p>
        </Empty>
      ) : (
        <Table
          caption="Workers"
          head={['Worker', 'Machine · process', '#Running', 'Last seen', 'Begun', 'Version', '#Memory']}
        >
          {(value?.workers ?? []).map((worker) => (
            <WorkerRow key={worker.worker} worker={worker} />
          ))}
        </Table>
      )}
      <h2>Limits</h2>
      {value ? <Limits key={JSON.stringify(value.limits)} limits={value.limits} again={again} /> : null}
      <h2>Schedules</h2>
      {value ? <Schedules schedules={value.schedules} again={again} /> : null}
    </>
  );
}

function WorkerRow({ worker }: { readonly worker: WorkerInfo }): JSX.Element {
  const isSilent = isSilentAt(worker, useNow(2000));
  const bytes = worker.about['memory'] ?? worker.about['rss'];
  return (
    <tr>
      <td>
        <code>{worker.worker}</code>
      </td>
      <td>
        {worker.host} · {worker.pid}
      </td>
      <td class="number">{count(worker.running)}</td>
      <td class={isSilent ? 'bad' : ''}>
        {isSilent ? 'silent, ' : ''}
        <When time={worker.seen} />
      </td>
      <td>
        <When time={worker.begun} />
      </td>
      <td>{worker.version}</td>
      <td class="number">{typeof bytes === 'number' ? `${Math.round(bytes / 1_048_576)} MB` : 'not told'}</td>
    </tr>
  );
}

type Again = { readonly again: () => void };

function Limits({ limits, again }: { readonly limits: QueueLimits } & Again): JSX.Element {
  const may = useMay('operator');
  const { busy, failed, send } = useSending();
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
    send(async () => {
      const number = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text));
      const [concurrency, tenantConcurrency, runs, seconds] = [
        typed.concurrency,
        typed.tenantConcurrency,
        typed.runs,
        typed.seconds,
      ].map(number);
      await api.limit({
        ...(concurrency === undefined ? {} : { concurrency }),
        ...(tenantConcurrency === undefined ? {} : { tenantConcurrency }),
        ...(runs === undefined || seconds === undefined ? {} : { rate: { runs, ms: Math.round(seconds * 1000) } }),
      });
      again();
    });
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        keep();
      }}
    >
      <Field name="Runs at a time" hint="Over all workers.">
        {field('concurrency')}
      </Field>
      <Field name="Of them for one tenant" hint="So that none takes all.">
        {field('tenantConcurrency')}
      </Field>
      <Field name="New runs, at most" hint="However many workers.">
        {field('runs')}
      </Field>
      <Field name="in so many seconds" hint="Both, or neither.">
        {field('seconds')}
      </Field>
      {may ? (
        <button type="submit" disabled={busy}>
          Set limits
        </button>
      ) : (
        <p class="hint">Only an operator's key may change them.</p>
      )}
      <Failed failed={failed} />
    </form>
  );
}

const utc = (now: number): string => {
  const date = new Date(now);
  return `${date.toLocaleDateString('en-GB', { weekday: 'long', timeZone: 'UTC' })}, ${date.toISOString().slice(11, 16)}`;
};

function Schedules({ schedules, again }: { readonly schedules: readonly Schedule[] } & Again): JSX.Element {
  const may = useMay('runner');
  const { busy, failed, send } = useSending();
  const now = useNow(10_000);
  const [typed, setTyped] = useState({ name: '', cron: '', words: '' });
  const act = (work: () => Promise<unknown>): void =>
    send(async () => {
      await work();
      again();
    });
  const add = (): void =>
    act(async () => {
      await api.schedule({ name: typed.name.trim(), cron: typed.cron.trim(), run: { words: typed.words } });
      setTyped({ name: '', cron: '', words: '' });
    });
  return (
    <>
      {schedules.length === 0 ? (
        <p class="hint">Nothing comes by the clock. A schedule begins the same run again and again.</p>
      ) : (
        <Table caption="Schedules" head={['Name', 'When (UTC)', 'What is asked', '']}>
          {schedules.map((each) => (
            <tr key={each.name}>
              <td>{each.name}</td>
              <td>
                <code>{each.cron}</code>
              </td>
              <td class="words">
                <Visible text={cut(each.run.words, 200)} />
              </td>
              <td>
                {may ? (
                  <Sure name="Remove" of={each.name} disabled={busy} act={() => act(() => api.unschedule(each.name))} />
                ) : null}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {may ? (
        <form
          class="filters"
          onSubmit={(event) => {
            event.preventDefault();
            add();
          }}
        >
          <Field name="Name">
            <input
              required
              value={typed.name}
              spellcheck={false}
              onInput={(event) => setTyped({ ...typed, name: event.currentTarget.value })}
            />
          </Field>
          <Field name="When, in UTC" hint={`Minute, hour, day, month, weekday. Now: ${utc(now)}.`}>
            <input
              required
              value={typed.cron}
              spellcheck={false}
              placeholder="0 7 * * 1-5"
              onInput={(event) => setTyped({ ...typed, cron: event.currentTarget.value })}
            />
          </Field>
          <Field name="What is asked">
            <input
              required
              value={typed.words}
              onInput={(event) => setTyped({ ...typed, words: event.currentTarget.value })}
            />
          </Field>
          <button type="submit" disabled={busy}>
            Add schedule
          </button>
        </form>
      ) : null}
      <Failed failed={failed} />
    </>
  );
}
