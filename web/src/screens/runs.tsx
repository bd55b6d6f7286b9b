// Runs: all of them, the latest first, by status, tenant or session.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { WorkerEntry } from '../../../src/core/index.ts';
import { api } from '../wire/api.ts';
import { Empty, Field, Figure, Title } from '../view/parts.tsx';
import { linkTo } from '../view/route.ts';
import { RunTable } from '../view/run-table.tsx';
import { count, duration } from '../text/format.ts';
import { useNow, usePoll } from '../view/poll.ts';

const statuses = ['', 'queued', 'running', 'resting', 'ended'] as const;

/** The screen; the query of the address is the filter it begins with. */
export function RunsScreen({ query }: { readonly query: string }): JSX.Element {
  const asked = new URLSearchParams(query);
  const [status, setStatus] = useState(asked.get('status') ?? '');
  const [tenant, setTenant] = useState(asked.get('tenant') ?? '');
  const [session, setSession] = useState(asked.get('session') ?? '');
  const [most, setMost] = useState(50);
  const filter = {
    ...(status === '' ? {} : { status }),
    ...(tenant.trim() === '' ? {} : { tenant: tenant.trim() }),
    ...(session.trim() === '' ? {} : { session: session.trim() }),
    most,
  };
  const isFiltered = Object.keys(filter).length > 1;
  return (
    <>
      <Title>Runs</Title>
      <Depth />
      <form class="filters" aria-label="Which runs" onSubmit={(event) => event.preventDefault()}>
        <Field name="Status">
          <select value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
            {statuses.map((each) => (
              <option key={each} value={each}>
                {each === '' ? 'any' : each === 'resting' ? 'resting (waits)' : each}
              </option>
            ))}
          </select>
        </Field>
        <Field name="Tenant">
          <input value={tenant} spellcheck={false} onInput={(event) => setTenant(event.currentTarget.value)} />
        </Field>
        <Field name="Session">
          <input value={session} spellcheck={false} onInput={(event) => setSession(event.currentTarget.value)} />
        </Field>
      </form>
      <RunTable
        caption="Runs, the latest first"
        filter={filter}
        more={() => setMost(Math.min(1000, most * 4))}
        ms={2000}
        empty={
          isFiltered ? (
            <p class="hint">No run fits this filter.</p>
          ) : (
            <Empty title="No runs yet.">
              <p>
                Begin one in <a href={linkTo('ask')}>Ask</a>, or from a terminal:{' '}
                <code>fairlead enqueue "what is to be done"</code>
              </p>
            </Empty>
          )
        }
      />
    </>
  );
}

/** A worker that gave no sign of life for so long is called silent. */
const silentMs = 15_000;

/** Whether a worker has been silent for too long to count on it. */
export const isSilentAt = ({ seen }: WorkerEntry, now: number): boolean => now - Date.parse(seen) > silentMs;

/** How much waits, goes on and rests. */
export function Depth(): JSX.Element {
  const { value } = usePoll((signal) => api.queue(signal), 2000);
  const now = useNow();
  const depth = value?.depth;
  const awake = value?.workers.filter((worker) => !isSilentAt(worker, now)).length ?? 0;
  return (
    <dl class="figures">
      <Figure
        name="Queued"
        value={depth ? count(depth.queued) : '–'}
        note={depth?.oldest ? `oldest ${duration(now - Date.parse(depth.oldest))}` : 'none waits'}
      />
      <Figure
        name="Running"
        value={depth ? count(depth.running) : '–'}
        note={value ? `${count(awake)} ${awake === 1 ? 'worker' : 'workers'}` : ''}
      />
      <Figure name="Resting" value={depth ? count(depth.resting) : '–'} note="wait for a person or for parts" />
    </dl>
  );
}
