// A session or a run: title, figures, the views Conversation, Trace, Replay and Events, and the dock with its status and the next message.
import type { ComponentChildren, JSX } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { FleetRun } from '../../../src/core/index.ts';
import { formatHeading } from '../text/labels.ts';
import { api } from '../api/client.ts';
import { Announcer } from './announcer.tsx';
import { usePermission } from '../hooks/use-permission.ts';
import { useFollow } from '../hooks/use-follow.ts';
import { useRunEndNotification } from '../hooks/use-run-end-notification.ts';
import { useSubmit } from '../hooks/use-poll.ts';
import { useSessionFeed, type FeedTarget } from '../hooks/use-session-feed.ts';
import { currentRoute, linkTo, navigate, saveDraftPrompt } from '../state/router.ts';
import { useAtom } from '../state/atom.ts';
import { EditableTitle } from './editable-title.tsx';
import { EscapedText } from './escaped-text.tsx';
import { EventList } from './event-list.tsx';
import { Icon } from './icon.tsx';
import { ItemHeader } from './item-header.tsx';
import { Markdown } from './markdown-view.tsx';
import { OutcomeView, WaitingReason } from './live-run.tsx';
import { EmptyState, ErrorMessage, CopyableId, StatusBadge } from './primitives.tsx';
import { QuestionBar } from './question-bar.tsx';
import { ReplayView } from './replay-view.tsx';
import { RunDock } from './run-dock.tsx';
import { SessionEditor } from './session-editor.tsx';
import { SessionFacts } from './session-facts.tsx';
import { TimelineView } from './timeline-view.tsx';
import { TraceView } from './trace-view.tsx';
import type { Timeline } from '../state/timeline.ts';

/** The run or session to follow. */
export type SessionPanelProps = {
  readonly target: FeedTarget;
  readonly session: string;
  /** The run of the screen, if it shows one run only. */
  readonly run?: FleetRun;
  /** Whether the message field gets the focus. */
  readonly shouldFocusInput?: boolean;
  /** What is shown below the figures: errors of a run, or where a session of the terminal belongs. */
  readonly children?: ComponentChildren;
};

const views = ['conversation', 'trace', 'replay', 'events'] as const;
const viewLabels = { conversation: 'Conversation', trace: 'Trace', replay: 'Replay', events: 'Events' } as const;

/** A session with its views and actions. Of a session of the terminal only the title can be changed. */
export function SessionPanel(props: SessionPanelProps): JSX.Element {
  const { target, session, shouldFocusInput = false, children } = props;
  const feed = useSessionFeed(target);
  const { busy, error, submit } = useSubmit();
  const [isEditing, setEditing] = useState(false);
  const route = useAtom(currentRoute);
  const mayRun = usePermission('runner');
  const isTerminal = 'terminal' in target;
  const may = mayRun && !isTerminal;
  const { timeline } = feed;
  const run = props.run ?? feed.run;
  const isLive = !isTerminal && (run ? run.status !== 'ended' : timeline.running);
  const isThere = feed.error?.status !== 404;
  const view = views.find((each) => each === new URLSearchParams(route.query).get('view')) ?? 'conversation';
  const follow = useFollow(isLive && view === 'conversation');
  const [savedTitle, setSavedTitle] = useState<string | undefined>(undefined);
  useEffect(() => setSavedTitle(undefined), [timeline.title]);
  const prompt = getFirstPrompt(timeline) || props.run?.prompt || '';
  const title = savedTitle ?? timeline.title ?? (formatHeading(prompt) || 'Session');
  // A hidden tab reads the stream, but does not load the run of the screen again.
  const isStreamLive = feed.run ? feed.run.status !== 'ended' : timeline.running;
  useRunEndNotification(isStreamLive && !isTerminal, title, session);
  const fork = useCallback(
    (event?: string): void => submit(async () => navigate('sessions', (await api.fork(session, event)).session)),
    [session, submit],
  );
  const saveTitle = async (next: string): Promise<void> => {
    await api.setTitle(session, next, isTerminal ? 'terminal' : 'server');
    setSavedTitle(next);
  };
  return (
    <section class="session" aria-label="Session">
      <EditableTitle
        title={title}
        save={mayRun && isThere && !isLive && timeline.seq > 0 ? saveTitle : undefined}
        beside={<span class="live-head">{run ? <StatusBadge run={run} /> : null}</span>}
      />
      <p class="names">
        {props.run ? <CopyableId of="Run" name={props.run.id} /> : <CopyableId of="Session" name={session} />}
        {props.run ? <a href={linkTo('sessions', session)}>Open session</a> : null}
        {props.run?.parent === undefined ? null : (
          <span>
            Child of <a href={linkTo('runs', props.run.parent)}>run {props.run.parent.slice(0, 8)}</a>
          </span>
        )}
      </p>
      <SessionFacts timeline={timeline} run={run} />
      {children}
      <ErrorMessage failed={error ?? feed.error} />
      <div class="session-bar">
        <nav class="tabs" aria-label="Views">
          {views.map((each) => (
            <a
              key={each}
              href={linkTo(route.screen === 'runs' || route.screen === 'ask' ? 'runs' : 'sessions', route.id, {
                view: each === 'conversation' ? '' : each,
                source: isTerminal ? 'terminal' : '',
              })}
              aria-current={each === view ? 'page' : undefined}
            >
              {viewLabels[each]}
            </a>
          ))}
        </nav>
        {may && isThere ? (
          <div class="buttons">
            <button
              type="button"
              class="quiet"
              disabled={busy || timeline.seq === 0}
              title="Creates a session with this history"
              onClick={() => fork()}
            >
              <Icon name="fork" size={14} /> Fork
            </button>
            <button
              type="button"
              class="quiet"
              disabled={busy || isLive || timeline.seq === 0}
              title={isLive ? 'Available after the run has ended' : 'Edits the messages in a new branch'}
              aria-expanded={isEditing}
              onClick={() => setEditing(!isEditing)}
            >
              <Icon name="edit" size={14} /> Edit
            </button>
            {prompt === '' ? null : (
              <button
                type="button"
                class="quiet"
                title="Puts the prompt into the form of a new run"
                onClick={() => {
                  saveDraftPrompt(prompt);
                  navigate('ask');
                }}
              >
                <Icon name="refresh" size={14} /> Reuse prompt
              </button>
            )}
          </div>
        ) : null}
      </div>
      {isEditing ? <SessionEditor session={session} close={() => setEditing(false)} /> : null}
      {view === 'trace' ? (
        <TraceView
          source={{ source: isTerminal ? 'terminal' : 'server', session }}
          run={props.run?.id}
          seq={timeline.seq}
          turns={countTurns(timeline)}
          isLive={isLive}
        />
      ) : view === 'replay' ? (
        <ReplayView
          source={{ source: isTerminal ? 'terminal' : 'server', session }}
          isLive={isLive}
          turns={countTurns(timeline)}
        />
      ) : view === 'events' ? (
        <EventList events={feed.events} />
      ) : (
        <>
          <QuestionBar timeline={timeline} />
          {feed.loaded && timeline.items.length === 0 && !feed.error ? (
            <EmptyTimeline run={run} isLive={isLive} />
          ) : null}
          <TimelineView
            items={timeline.items}
            live={feed.live}
            acts={{ session: isTerminal ? undefined : session, fork: may ? fork : undefined, model: timeline.model }}
          />
          {timeline.offBranchCount > 0 ? (
            <p class="hint">
              The log also contains {timeline.offBranchCount} {timeline.offBranchCount === 1 ? 'event' : 'events'} on
              other branches.
            </p>
          ) : null}
          {run?.outcome ? <OutcomeView run={run} feed={feed} /> : null}
        </>
      )}
      <Announcer feed={feed} run={run} />
      {isThere && !isTerminal && view === 'conversation' ? (
        <RunDock
          session={session}
          run={run}
          timeline={timeline}
          isLive={isLive}
          may={may}
          follow={follow}
          isRunScreen={'run' in target}
          shouldFocus={shouldFocusInput && feed.loaded}
        />
      ) : null}
    </section>
  );
}

const countTurns = ({ items }: Timeline): number => items.filter(({ type }) => type === 'turn').length;

/** Returns the first message of the user in a session; text of a hook is not one. */
function getFirstPrompt({ items }: Timeline): string {
  const first = items.find(
    (item) =>
      (item.type === 'input' && item.by === undefined) || (item.type === 'message' && item.message.role === 'user'),
  );
  if (first?.type === 'input') return first.text;
  return first?.type === 'message'
    ? first.message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    : '';
}

/** The error of a run, above its timeline. */
export function RunError({ run }: { readonly run: FleetRun }): JSX.Element | null {
  const error = run.outcome?.error;
  if (!error) return null;
  return (
    <div class="failed">
      <p>
        <EscapedText text={/[.!?]$/.test(error.message) ? error.message : `${error.message}.`} /> {error.hint}
      </p>
    </div>
  );
}

/** A session without events: the prompt of its run, and why that has not started; or how to begin. */
function EmptyTimeline({ run, isLive }: { readonly run: FleetRun | undefined; readonly isLive: boolean }): JSX.Element {
  if (!run)
    return (
      <EmptyState icon="message" title="This session has no messages yet.">
        <p>Send a message below to start a run in it.</p>
      </EmptyState>
    );
  return (
    <>
      <ol class="timeline">
        <li class="said input">
          <ItemHeader icon="user" what="You" time={run.queued} />
          <div class="body">
            <Markdown text={run.prompt} />
          </div>
        </li>
      </ol>
      {isLive ? <WaitingReason run={run} /> : null}
    </>
  );
}
