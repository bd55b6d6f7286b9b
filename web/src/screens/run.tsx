// One run: what was asked, how it stands, what it began, and the session it writes.
import type { JSX } from 'preact';
import { clock } from '../text/format.ts';
import { Markdown } from '../text/markdown-view.tsx';
import { Long } from '../view/call-view.tsx';
import { Children, Spent } from '../view/live-run.tsx';
import { Failed, Figure, Status, Title } from '../view/parts.tsx';
import { usePoll } from '../view/poll.ts';
import { linkTo } from '../view/route.ts';
import { SessionPanel } from '../view/session-panel.tsx';
import { api } from '../wire/api.ts';

/** The screen of a run. */
export function RunScreen({ id }: { readonly id: string }): JSX.Element {
  const { value, failed } = usePoll((signal) => api.run(id, signal), 2000, id);
  const run = value?.run;
  if (!run)
    return (
      <>
        <Title>Run {id.slice(0, 8)}</Title>
        <Failed failed={failed} />
      </>
    );
  const { outcome } = run;
  return (
    <>
      <Title beside={<Status run={run} />}>Run {id.slice(0, 8)}</Title>
      <dl class="figures small">
        <Figure name="Kind" value={run.kind} />
        <Figure name="Tenant" value={run.tenant} note={run.priority === 0 ? undefined : `priority ${run.priority}`} />
        <Figure
          name="Queued"
          value={clock(run.queued, Date.now())}
          note={run.attempts === 1 ? 'taken once' : `taken ${run.attempts} times`}
        />
        <Figure name="Worker" value={run.worker ?? 'none yet'} note={run.version} />
        {outcome ? <Figure name="Spent" value={<Spent run={run} />} /> : null}
      </dl>
      <p class="hint">
        Session <a href={linkTo('sessions', run.session)}>{run.session}</a>
        {run.parent === undefined ? null : (
          <>
            , part of run <a href={linkTo('runs', run.parent)}>{run.parent.slice(0, 8)}</a>
          </>
        )}
      </p>
      {Object.keys(run.settings).length > 0 ? (
        <details>
          <summary>Settings</summary>
          <Long text={JSON.stringify(run.settings, undefined, 2)} />
        </details>
      ) : null}
      {run.kind === 'run' && outcome?.spent.turns !== 0 ? null : (
        <>
          <h2>Asked</h2>
          <Markdown text={run.words} />
        </>
      )}
      {run.kind === 'run' ? null : (
        <>
          {outcome?.detail === undefined ? null : <p class="hint">{outcome.detail}</p>}
          {outcome && outcome.text !== '' ? (
            <div class="outcome">
              <h2>Answer</h2>
              <Markdown text={outcome.text} />
            </div>
          ) : null}
          <Children of={run.id} isOver={run.status === 'ended'} />
        </>
      )}
      {outcome?.error ? (
        <p class="failed">
          {outcome.error.message} {outcome.error.hint}
        </p>
      ) : null}
      <SessionPanel followed={{ run: run.id }} session={run.session} />
    </>
  );
}
