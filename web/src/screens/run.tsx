// Screen of a run: prompt, status, child runs and session.
import type { JSX } from 'preact';
import type { FleetRun } from '../../../src/core/index.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { formatTime, ensurePeriod } from '../text/format.ts';
import { Markdown, EscapedText } from '../components/markdown-view.tsx';
import { formatHeading, formatRunKind } from '../text/labels.ts';
import { LongText } from '../components/call-view.tsx';
import { ChildRuns, RunCost } from '../components/live-run.tsx';
import { usePermission } from '../hooks/use-permission.ts';
import { ErrorMessage, Metric, CopyableId, StatusBadge, PageTitle } from '../components/primitives.tsx';
import { usePoll, useSubmit } from '../hooks/use-poll.ts';
import { linkTo } from '../state/router.ts';
import { SessionPanel } from '../components/session-panel.tsx';
import { api } from '../api/client.ts';

/** The screen of a run. */
export function RunScreen({ id }: { readonly id: string }): JSX.Element {
  const { value, error } = usePoll((signal) => api.run(id, signal), 2000, id);
  const run = value?.run;
  if (!run)
    return (
      <>
        <PageTitle>Run</PageTitle>
        <p class="names">
          <CopyableId of="Run" name={id} />
        </p>
        <ErrorMessage failed={error} />
        {error?.status === 404 ? (
          <p class="hint">
            It may have been deleted. <a href={linkTo('runs')}>Show all runs</a>
          </p>
        ) : null}
      </>
    );
  return <RunDetail run={run} />;
}

function RunDetail({ run }: { readonly run: FleetRun }): JSX.Element {
  const { outcome } = run;
  const isPlain = run.kind === 'run';
  const again = run.attempts - 1;
  return (
    <>
      <PageTitle beside={<StatusBadge run={run} />}>{formatHeading(run.prompt)}</PageTitle>
      <p class="names">
        <CopyableId of="Run" name={run.id} />
        <a href={linkTo('sessions', run.session)}>Open session</a>
        {run.parent === undefined ? null : (
          <span>
            Child of <a href={linkTo('runs', run.parent)}>run {run.parent.slice(0, 8)}</a>
          </span>
        )}
      </p>
      {outcome?.error ? (
        <div class="failed">
          <p>
            <EscapedText text={ensurePeriod(outcome.error.message)} /> {outcome.error.hint}
          </p>
        </div>
      ) : null}
      <dl class="figures small">
        <Metric name="Kind" value={formatRunKind(run.kind)} />
        <Metric name="Tenant" value={run.tenant} note={run.priority === 0 ? undefined : `priority ${run.priority}`} />
        <Metric name="Queued" value={formatTime(run.queued, Date.now())} />
        <Metric
          name="Worker"
          value={run.worker ?? 'none yet'}
          note={again > 0 ? `continued ${again === 1 ? 'once' : `${again} times`}` : undefined}
        />
        {outcome ? <Metric name="Cost" value={<RunCost run={run} />} /> : null}
      </dl>
      {Object.keys(run.settings).length > 0 ? (
        <details>
          <summary>Settings</summary>
          <LongText text={JSON.stringify(run.settings, undefined, 2)} label="the settings" />
        </details>
      ) : null}
      {isPlain && outcome?.spent.turns !== 0 ? null : (
        <>
          <h2>Prompt</h2>
          <Markdown text={run.prompt} />
        </>
      )}
      {isPlain ? <SessionPanel target={{ run: run.id }} session={run.session} /> : <DelegatedRun run={run} />}
    </>
  );
}

/** The outcome of an orchestration run; its own session contains only the plan. */
function DelegatedRun({ run }: { readonly run: FleetRun }): JSX.Element {
  const { busy, error, submit } = useSubmit();
  const may = usePermission('runner');
  const { outcome } = run;
  const isOver = run.status === 'ended';
  return (
    <>
      {outcome?.detail === undefined ? null : (
        <p class="outcome hint">
          <EscapedText text={outcome.detail} />
        </p>
      )}
      {outcome && outcome.text !== '' ? (
        <div class="outcome">
          <h2>Answer</h2>
          <Markdown text={outcome.text} />
          <CopyButton text={outcome.text} what="the answer" />
        </div>
      ) : null}
      {isOver || !may ? null : (
        <div class="buttons acts">
          <button type="button" class="danger" disabled={busy} onClick={() => submit(() => api.cancelRun(run.id))}>
            Cancel the run
          </button>
        </div>
      )}
      <ErrorMessage failed={error} />
      <ChildRuns of={run.id} isOver={isOver} />
    </>
  );
}
