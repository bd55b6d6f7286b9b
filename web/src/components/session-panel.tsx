// A live session with its actions: send a message, fork, edit, cancel.
import type { JSX } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { FleetRun } from '../../../src/core/index.ts';
import { formatUsd, formatPercent, formatCompact } from '../text/format.ts';
import { formatHeading } from '../text/labels.ts';
import { api, createId } from '../api/client.ts';
import { Announcer } from './announcer.tsx';
import { useDraft } from '../hooks/use-draft.ts';
import { usePermission } from '../hooks/use-permission.ts';
import { OutcomeView, WaitingReason } from './live-run.tsx';
import { EmptyState, ErrorMessage, Metric, CopyableId, StatusBadge, PageTitle } from './primitives.tsx';
import { useSubmit } from '../hooks/use-poll.ts';
import { navigate } from '../state/router.ts';
import { inheritRunSettings } from '../state/inherited-settings.ts';
import { SessionEditor } from './session-editor.tsx';
import { useSessionFeed, type FeedTarget } from '../hooks/use-session-feed.ts';
import { TimelineView } from './timeline-view.tsx';
import type { TimelineItem, Timeline } from '../state/timeline.ts';

/** The run or session to follow; `isStandalone` if the panel is the whole screen and shows a title and totals. */
export type SessionPanelProps = {
  readonly target: FeedTarget;
  readonly session: string;
  readonly isStandalone?: boolean;
  /** Whether the message field gets the focus. */
  readonly shouldFocusInput?: boolean;
};

/** The timeline of a session with its actions. */
export function SessionPanel({
  target,
  session,
  isStandalone = false,
  shouldFocusInput = false,
}: SessionPanelProps): JSX.Element {
  const feed = useSessionFeed(target);
  const { busy, error, submit } = useSubmit();
  const [isEditing, setEditing] = useState(false);
  const may = usePermission('runner');
  const { timeline, run } = feed;
  const isLive = run ? run.status !== 'ended' : timeline.running;
  const isThere = feed.error?.status !== 404;
  const fork = useCallback(
    (event?: string): void => submit(async () => navigate('sessions', (await api.fork(session, event)).session)),
    [session, submit],
  );
  return (
    <section aria-label="Session">
      {isStandalone ? (
        <>
          <PageTitle beside={run ? <StatusBadge run={run} /> : null}>
            {formatHeading(getFirstPrompt(timeline)) || 'Session'}
          </PageTitle>
          <p>
            <CopyableId of="Session" name={session} />
          </p>
          <SessionTotals timeline={timeline} />
        </>
      ) : (
        <h2 class="unseen">Timeline</h2>
      )}
      {may && isThere ? (
        <div class="buttons acts">
          <button
            type="button"
            disabled={busy || timeline.seq === 0}
            title="Creates a session with this history"
            onClick={() => fork()}
          >
            Fork
          </button>
          <button
            type="button"
            disabled={busy || isLive || timeline.seq === 0}
            title={
              isLive
                ? 'Available after the run has ended'
                : 'Edits the messages in a new branch; the current branch is kept'
            }
            aria-expanded={isEditing}
            onClick={() => setEditing(!isEditing)}
          >
            Edit
          </button>
          {isLive ? (
            <button
              type="button"
              class="danger"
              disabled={busy}
              onClick={() => submit(() => api.cancelSession(session))}
            >
              Cancel the run
            </button>
          ) : null}
        </div>
      ) : null}
      <ErrorMessage failed={error ?? feed.error} />
      {isEditing ? <SessionEditor session={session} close={() => setEditing(false)} /> : null}
      {feed.loaded && timeline.items.length === 0 && !feed.error ? (
        <EmptyState title="This session has no messages yet.">
          {run && isLive ? <WaitingReason run={run} /> : <p>Send a message below to start a run in it.</p>}
        </EmptyState>
      ) : null}
      <TimelineView items={timeline.items} live={feed.live} acts={{ session, fork: may ? fork : undefined }} />
      {timeline.offBranchCount > 0 ? (
        <p class="hint">
          The log also contains {timeline.offBranchCount} {timeline.offBranchCount === 1 ? 'event' : 'events'} on other
          branches.
        </p>
      ) : null}
      {isStandalone && run?.outcome ? <OutcomeView run={run} feed={feed} /> : null}
      <Announcer feed={feed} run={run} />
      {may && isThere ? (
        <PromptForm
          session={session}
          previousRun={run}
          isLive={isLive}
          isStandalone={isStandalone}
          shouldFocus={shouldFocusInput && feed.loaded}
        />
      ) : null}
    </section>
  );
}

/** Returns the first prompt of a session. */
function getFirstPrompt({ items }: Timeline): string {
  const first = items.find(
    (item) => item.type === 'input' || (item.type === 'message' && item.message.role === 'user'),
  );
  if (first?.type === 'input') return first.text;
  return first?.type === 'message'
    ? first.message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    : '';
}

/** The totals of a session: cost, tokens, cache. */
function SessionTotals({ timeline }: { readonly timeline: Timeline }): JSX.Element | null {
  const turns = timeline.items.filter(
    (item): item is Extract<TimelineItem, { type: 'turn' }> => item.type === 'turn' && item.ms !== undefined,
  );
  if (turns.length === 0) return null;
  const sum = (read: (item: (typeof turns)[number]) => number | undefined): number =>
    turns.reduce((all, turn) => all + (read(turn) ?? 0), 0);
  const input = sum(({ usage }) => usage?.input);
  const isCounted = turns.some(({ usage }) => usage?.input !== undefined || usage?.output !== undefined);
  const isCacheReported = turns.some(({ usage }) => usage?.cacheRead !== undefined);
  const isPriced = turns.some(({ usd }) => usd !== undefined);
  return (
    <dl class="figures small">
      <Metric name="Model" value={timeline.model || 'unknown'} />
      <Metric name="Turns" value={turns.length} note={formatCallCount(sum(({ calls }) => calls.length))} />
      <Metric name="Cost" value={isPriced ? formatUsd(sum(({ usd }) => usd)) : 'unknown'} />
      <Metric
        name="Tokens"
        value={
          isCounted
            ? `${formatCompact(input)} in, ${formatCompact(sum(({ usage }) => usage?.output))} out`
            : 'not reported'
        }
        note={
          isCacheReported && input > 0
            ? `${formatPercent(Math.min(1, sum(({ usage }) => usage?.cacheRead) / input))} from the cache`
            : 'cache not reported'
        }
      />
    </dl>
  );
}

const formatCallCount = (calls: number): string => (calls === 1 ? '1 call' : `${calls} calls`);

type SteerMode = 'steer' | 'follow-up';

type PromptFormProps = {
  readonly session: string;
  readonly previousRun: FleetRun | undefined;
  readonly isLive: boolean;
  readonly isStandalone: boolean;
  readonly shouldFocus: boolean;
};

/** Sends a message to the active run, or starts a new run in the session. */
function PromptForm({ session, previousRun, isLive, isStandalone, shouldFocus }: PromptFormProps): JSX.Element {
  const [words, setWords] = useDraft(`session ${session}`);
  const [how, setHow] = useState<SteerMode>('steer');
  const [status, setStatus] = useState('');
  const { busy, error, submit } = useSubmit();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (shouldFocus) field.current?.focus();
  }, [shouldFocus]);
  const send = (): void =>
    submit(async () => {
      if (isLive) await api.sendMessage(session, words, how);
      const started = isLive
        ? undefined
        : (await api.startRun('run', { ...inheritRunSettings(previousRun), prompt: words, session }, createId())).run;
      setStatus(
        isLive ? `Sent. It is delivered ${how === 'steer' ? 'at the next step' : 'after the answer'}.` : 'Run started.',
      );
      setWords('');
      // The screen of a run shows only that run, so open the new one.
      if (started && !isStandalone) navigate('runs', started.id);
    });
  return (
    <form
      class="composer speaking"
      onSubmit={(event) => {
        event.preventDefault();
        if (words.trim() !== '' && !busy) send();
      }}
    >
      <label class="field-name" for="speaking">
        {isLive ? 'Steer this run' : 'Continue this session'}
      </label>
      <textarea
        id="speaking"
        ref={field}
        dir="auto"
        rows={3}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
        }}
      />
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy || words.trim() === ''}>
          {isLive ? 'Send' : 'Run'}
        </button>
        {isLive ? (
          <label class="check">
            When
            <select
              value={how}
              onChange={(event) => setHow(event.currentTarget.value === 'follow-up' ? 'follow-up' : 'steer')}
            >
              <option value="steer">at the next step</option>
              <option value="follow-up">after the answer</option>
            </select>
          </label>
        ) : null}
        <span class="hint" role="status">
          {status}
        </span>
      </div>
      <ErrorMessage failed={error} />
    </form>
  );
}
