// Runs: all of them, the latest first, by status, tenant or session.
import type { JSX } from 'preact';
import { api } from '../wire/api.ts';
import { isSilentAt } from '../view/awake.ts';
import { Empty, Field, Figure, Title } from '../view/parts.tsx';
import { linkTo, stayWith } from '../view/route.ts';
import { RunTable } from '../view/run-table.tsx';
import { count, duration } from '../text/format.ts';
import { useNow, usePoll } from '../view/poll.ts';

const statuses = { '': 'any', queued: 'queued', running: 'running', resting: 'waiting', ended: 'ended' } as const;

/** How many runs a page has. */
const page = 50;

/** The screen; the query of the address is the filter, so that what is seen can be linked to. */
export function RunsScreen({ query }: { readonly query: string }): JSX.Element {
  const asked = new URLSearchParams(query);
  const [status, tenant, session, before] = ['status', 'tenant', 'session', 'before'].map(
    (name) => asked.get(name)?.trim() ?? '',
  ) as [string, string, string, string];
  const wanted = { status, tenant, session };
  const filter = {
    ...Object.fromEntries(Object.entries({ ...wanted, before }).filter(([, value]) => value !== '')),
    most: page,
  };
  const isFiltered = Object.values(wanted).some((value) => value !== '');
  const change = (name: keyof typeof wanted, value: string): void => stayWith('runs', { ...wanted, [name]: value });
  return (
    <>
      <Title>Runs</Title>
      <Depth />
      <form class="filters" aria-label="Which runs" onSubmit={(event) => event.preventDefault()}>
        <Field name="Status">
          <select value={status} onChange={(event) => change('status', event.currentTarget.value)}>
            {Object.entries(statuses).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </Field>
        <Field name="Tenant" hint="Whose runs; default unless said.">
          <input value={tenant} spellcheck={false} onInput={(event) => change('tenant', event.currentTarget.value)} />
        </Field>
        <Field name="Session" hint="Its whole name.">
          <input value={session} spellcheck={false} onInput={(event) => change('session', event.currentTarget.value)} />
        </Field>
      </form>
      {before === '' ? null : (
        <p class="pages">
          Older runs. <a href={linkTo('runs', undefined, wanted)}>Back to the latest</a>
        </p>
      )}
      <RunTable
        caption="Runs, the latest first"
        filter={filter}
        older={(last) => linkTo('runs', undefined, { ...wanted, before: last })}
        ms={before === '' ? 2000 : 10_000}
        empty={
          before !== '' ? (
            <p class="hint">There are no older ones.</p>
          ) : isFiltered ? (
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
        note={depth && (depth.oldest ? `oldest ${duration(now - Date.parse(depth.oldest))}` : 'none waits')}
      />
      <Figure
        name="Running"
        value={depth ? count(depth.running) : '–'}
        note={value ? `${count(awake)} ${awake === 1 ? 'worker' : 'workers'}` : ''}
      />
      <Figure name="Waiting" value={depth ? count(depth.resting) : '–'} note="for a person or for their parts" />
    </dl>
  );
}
