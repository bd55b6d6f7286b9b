// Parts of the view of a run: its cost, its outcome, why it waits, and its child runs.
import type { JSX } from 'preact';
import type { FleetRun } from '../../../src/core/index.ts';
import { EscapedText } from './escaped-text.tsx';
import { Markdown } from './markdown-view.tsx';
import { formatTime, formatUsd, formatCompact } from '../text/format.ts';
import { api } from '../api/client.ts';
import { isWorkerSilent } from '../state/worker-liveness.ts';
import { useNow, usePoll } from '../hooks/use-poll.ts';
import { RunTable } from './run-table.tsx';
import type { SessionFeed } from '../hooks/use-session-feed.ts';

/** The cost of a run in one line. */
export function RunCost({ run }: { readonly run: FleetRun }): JSX.Element | null {
  if (!run.outcome) return null;
  const { spent } = run.outcome;
  return (
    <span class="spent">
      {spent.turnsWithoutPrice > 0 && spent.usd === 0 ? 'cost unknown' : formatUsd(spent.usd)} ·{' '}
      {formatCompact(spent.input + spent.output)} tokens · {spent.turns === 1 ? '1 turn' : `${spent.turns} turns`}
    </span>
  );
}

/** The outcome of a run, unless the timeline shows it: the answer of a plan or a verification. */
export function OutcomeView({ run, feed }: { readonly run: FleetRun; readonly feed: SessionFeed }): JSX.Element | null {
  const { outcome } = run;
  if (!outcome) return run.status === 'queued' && feed.timeline.items.length === 0 ? <WaitingReason run={run} /> : null;
  const isShown = feed.timeline.items.some((item) => item.type === 'message' || (item.type === 'turn' && item.message));
  const isMarked = feed.timeline.items.some((item) => item.type === 'mark' && item.what === 'ended');
  return (
    <>
      {isShown || outcome.text === '' ? null : (
        <div class="outcome">
          <Markdown text={outcome.text} />
        </div>
      )}
      {isMarked || !(outcome.error ?? outcome.detail) ? null : (
        <p class={outcome.error ? 'failed' : 'hint'}>
          <EscapedText text={outcome.error?.message ?? outcome.detail ?? ''} /> {outcome.error?.hint}
        </p>
      )}
    </>
  );
}

/** Why a queued run has not started, and what to do about it. */
export function WaitingReason({ run }: { readonly run: FleetRun }): JSX.Element {
  const { value } = usePoll((signal) => api.queue(signal), 3000);
  const now = useNow();
  if (run.notBefore !== undefined && Date.parse(run.notBefore) > now)
    return (
      <p class="waiting-dots">
        {run.started === undefined
          ? `Starts at ${formatTime(run.notBefore, now)} or later`
          : `Rests until ${formatTime(run.notBefore, now)}: rate limited`}
      </p>
    );
  if (value?.killSwitch.stopped) return <p class="hint">The run starts when the kill switch is reset.</p>;
  if (value?.workers.every((worker) => isWorkerSilent(worker, now)))
    return (
      <p class="hint">
        No worker is running. Start one with <code>fairlead worker</code> on a machine that can reach the store.
      </p>
    );
  return <p class="waiting-dots">Waiting for a worker</p>;
}

/** The child runs of a run. */
export function ChildRuns({ of, isOver }: { readonly of: string; readonly isOver: boolean }): JSX.Element {
  return (
    <section aria-label="Child runs">
      <h2>Child runs</h2>
      <RunTable
        caption="Child runs"
        filter={{ parent: of, limit: 100 }}
        intervalMs={isOver ? 30_000 : 1500}
        emptyState="No child runs yet."
      />
    </section>
  );
}
