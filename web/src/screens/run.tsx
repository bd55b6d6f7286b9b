// Screen of a run: its session, or for an orchestration or verification its outcome and child runs.
import type { JSX } from 'preact';
import type { FleetRun } from '../../../src/core/index.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { EscapedText } from '../components/escaped-text.tsx';
import { Icon } from '../components/icon.tsx';
import { Markdown } from '../components/markdown-view.tsx';
import { formatHeading } from '../text/labels.ts';
import { LongText } from '../components/code-view.tsx';
import { ChildRuns, RunCost } from '../components/live-run.tsx';
import { usePermission } from '../hooks/use-permission.ts';
import { EmptyState, ErrorMessage, CopyableId, StatusBadge, PageTitle } from '../components/primitives.tsx';
import { usePoll, useSubmit } from '../hooks/use-poll.ts';
import { linkTo } from '../state/router.ts';
import { emptyTimeline } from '../state/timeline.ts';
import { RunComparison } from '../components/run-comparison.tsx';
import { SessionFacts } from '../components/session-facts.tsx';
import { RunError, SessionPanel } from '../components/session-panel.tsx';
import { VerificationProgress, VerificationView } from '../components/verification-view.tsx';
import { PlanGraph } from '../components/plan-graph.tsx';
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
          <EmptyState icon="search" title="This run does not exist.">
            <p>
              It may have been deleted. <a href={linkTo('runs')}>Show all runs</a>
            </p>
          </EmptyState>
        ) : null}
      </>
    );
  if (run.kind !== 'run') return <DelegatedRun run={run} />;
  return (
    <SessionPanel target={{ run: run.id }} session={run.session} run={run}>
      <RunSettings run={run} />
      <RunComparison run={run} />
    </SessionPanel>
  );
}

function RunSettings({ run }: { readonly run: FleetRun }): JSX.Element | null {
  if (Object.keys(run.settings).length === 0) return null;
  return (
    <details class="run-settings">
      <summary>Settings</summary>
      <LongText text={JSON.stringify(run.settings, undefined, 2)} label="the settings" language="json" />
    </details>
  );
}

/** The outcome of an orchestration or verification; its own session contains only the plan. */
function DelegatedRun({ run }: { readonly run: FleetRun }): JSX.Element {
  const { busy, error, submit } = useSubmit();
  const may = usePermission('runner');
  const { outcome } = run;
  const isOver = run.status === 'ended';
  const isVerification = run.kind === 'verify';
  const verification = usePoll(
    (signal) => (isVerification ? api.verification(run.id, signal) : Promise.resolve(undefined)),
    isOver ? 60_000 : 1000,
    `${run.id} ${run.status}`,
  );
  const isPlan = run.kind === 'plan';
  const plan = usePoll(
    (signal) => (isPlan ? api.plan(run.id, signal) : Promise.resolve(undefined)),
    isOver ? 60_000 : 1000,
    `${run.id} plan ${run.status}`,
  ).value?.plan;
  const report = verification.value?.report;
  return (
    <>
      <PageTitle
        beside={
          <span class="live-head">
            <StatusBadge run={run} />
          </span>
        }
      >
        {formatHeading(run.prompt)}
      </PageTitle>
      <p class="names">
        <CopyableId of="Run" name={run.id} />
        <a href={linkTo('sessions', run.session)}>Open session</a>
        {outcome ? <RunCost run={run} /> : null}
      </p>
      <SessionFacts timeline={emptyTimeline} run={run} />
      <RunError run={run} />
      <RunSettings run={run} />
      <h2>{isVerification ? 'Question' : 'Prompt'}</h2>
      <Markdown text={run.prompt} />
      {plan ? <PlanGraph plan={plan} /> : null}
      {isVerification && !isOver ? <VerificationProgress progress={verification.value?.progress} /> : null}
      {report ? <VerificationView report={report} /> : null}
      {report || outcome?.detail === undefined ? null : (
        <p class="outcome hint">
          <EscapedText text={outcome.detail} />
        </p>
      )}
      {!report && outcome && outcome.text !== '' ? (
        <div class="outcome">
          <h2>Answer</h2>
          <Markdown text={outcome.text} />
          <CopyButton text={outcome.text} what="the answer" />
        </div>
      ) : null}
      {isOver || !may ? null : (
        <div class="buttons acts">
          <button type="button" class="danger" disabled={busy} onClick={() => submit(() => api.cancelRun(run.id))}>
            <Icon name="stop" size={12} /> Cancel the run
          </button>
        </div>
      )}
      <ErrorMessage failed={error} />
      {isVerification ? null : <ChildRuns of={run.id} isOver={isOver} />}
    </>
  );
}
