// One run: what was asked, how it stands, what it began, and the session it writes.
import type { JSX } from 'preact';
import type { FleetRun } from '../../../src/core/index.ts';
import { Copy } from '../text/copy.tsx';
import { clock, sentence } from '../text/format.ts';
import { Markdown, Visible } from '../text/markdown-view.tsx';
import { headingOf, kindWords } from '../text/words.ts';
import { Long } from '../view/call-view.tsx';
import { Children, Spent } from '../view/live-run.tsx';
import { useMay } from '../view/may.ts';
import { Failed, Figure, Name, Status, Title } from '../view/parts.tsx';
import { usePoll, useSending } from '../view/poll.ts';
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
        <Title>Run</Title>
        <p class="names">
          <Name of="Run" name={id} />
        </p>
        <Failed failed={failed} />
        {failed?.status === 404 ? (
          <p class="hint">
            It may have been forgotten since. <a href={linkTo('runs')}>See all runs</a>
          </p>
        ) : null}
      </>
    );
  return <Known run={run} />;
}

function Known({ run }: { readonly run: FleetRun }): JSX.Element {
  const { outcome } = run;
  const isPlain = run.kind === 'run';
  const again = run.attempts - 1;
  return (
    <>
      <Title beside={<Status run={run} />}>{headingOf(run.words)}</Title>
      <p class="names">
        <Name of="Run" name={run.id} />
        <a href={linkTo('sessions', run.session)}>Its session</a>
        {run.parent === undefined ? null : (
          <span>
            Part of <a href={linkTo('runs', run.parent)}>run {run.parent.slice(0, 8)}</a>
          </span>
        )}
      </p>
      {outcome?.error ? (
        <div class="failed">
          <p>
            <Visible text={sentence(outcome.error.message)} /> {outcome.error.hint}
          </p>
        </div>
      ) : null}
      <dl class="figures small">
        <Figure name="Kind" value={kindWords(run.kind)} />
        <Figure name="Tenant" value={run.tenant} note={run.priority === 0 ? undefined : `priority ${run.priority}`} />
        <Figure name="Queued" value={clock(run.queued, Date.now())} />
        <Figure
          name="Worker"
          value={run.worker ?? 'none yet'}
          note={again > 0 ? `continued ${again === 1 ? 'once' : `${again} times`}` : undefined}
        />
        {outcome ? <Figure name="Spent" value={<Spent run={run} />} /> : null}
      </dl>
      {Object.keys(run.settings).length > 0 ? (
        <details>
          <summary>Settings</summary>
          <Long text={JSON.stringify(run.settings, undefined, 2)} what="the settings" />
        </details>
      ) : null}
      {isPlain && outcome?.spent.turns !== 0 ? null : (
        <>
          <h2>Asked</h2>
          <Markdown text={run.words} />
        </>
      )}
      {isPlain ? <SessionPanel followed={{ run: run.id }} session={run.session} /> : <Parts run={run} />}
    </>
  );
}

/** What came of a run that has others do the work; its own session holds only its plan. */
function Parts({ run }: { readonly run: FleetRun }): JSX.Element {
  const { busy, failed, send } = useSending();
  const may = useMay('runner');
  const { outcome } = run;
  const isOver = run.status === 'ended';
  return (
    <>
      {outcome?.detail === undefined ? null : (
        <p class="outcome hint">
          <Visible text={outcome.detail} />
        </p>
      )}
      {outcome && outcome.text !== '' ? (
        <div class="outcome">
          <h2>Answer</h2>
          <Markdown text={outcome.text} />
          <Copy text={outcome.text} what="the answer" />
        </div>
      ) : null}
      {isOver || !may ? null : (
        <div class="buttons acts">
          <button type="button" class="danger" disabled={busy} onClick={() => send(() => api.cancelRun(run.id))}>
            Cancel the run
          </button>
        </div>
      )}
      <Failed failed={failed} />
      <Children of={run.id} isOver={isOver} />
    </>
  );
}
