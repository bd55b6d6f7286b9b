// A session that is followed, and what can be done with it: spoken to, forked, edited, cancelled.
import type { JSX } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { FleetRun } from '../../../src/core/index.ts';
import { money, percent, short } from '../text/format.ts';
import { headingOf } from '../text/words.ts';
import { api, freshId } from '../wire/api.ts';
import { Announcer } from './announcer.tsx';
import { useDraft } from './draft.ts';
import { useMay } from './may.ts';
import { Outcome, Waiting } from './live-run.tsx';
import { Empty, Failed, Figure, Name, Status, Title } from './parts.tsx';
import { useSending } from './poll.ts';
import { goTo } from './route.ts';
import { sameAs } from './same-as.ts';
import { SessionEditor } from './session-editor.tsx';
import { useFeed, type Followed } from './session-feed.ts';
import { TimelineView } from './timeline-view.tsx';
import type { Item, Timeline } from './timeline.ts';

/** What is followed, of which session; `isCompleteLogin` where nothing else on the screen sums it up. */
export type PanelProps = {
  readonly followed: Followed;
  readonly session: string;
  readonly isWhole?: boolean;
  /** Whether somebody came to say something. */
  readonly isSpokenTo?: boolean;
};

/** The timeline of a session with its acts. */
export function SessionPanel({ followed, session, isWhole = false, isSpokenTo = false }: PanelProps): JSX.Element {
  const feed = useFeed(followed);
  const { busy, failed, send } = useSending();
  const [isEditing, setEditing] = useState(false);
  const may = useMay('runner');
  const { timeline, run } = feed;
  const isLive = run ? run.status !== 'ended' : timeline.running;
  const isThere = feed.failed?.status !== 404;
  const fork = useCallback(
    (event?: string): void => send(async () => goTo('sessions', (await api.fork(session, event)).session)),
    [session, send],
  );
  return (
    <section aria-label="Session">
      {isWhole ? (
        <>
          <Title beside={run ? <Status run={run} /> : null}>{headingOf(firstWords(timeline)) || 'Session'}</Title>
          <p>
            <Name of="Session" name={session} />
          </p>
          <Sums timeline={timeline} />
        </>
      ) : (
        <h2 class="unseen">What happened</h2>
      )}
      {may && isThere ? (
        <div class="buttons acts">
          <button
            type="button"
            disabled={busy || timeline.seq === 0}
            title="Begins another session as this one stands"
            onClick={() => fork()}
          >
            Fork
          </button>
          <button
            type="button"
            disabled={busy || isLive || timeline.seq === 0}
            title={isLive ? 'Once its run has ended' : 'Changes what was said; what stood there is kept'}
            aria-expanded={isEditing}
            onClick={() => setEditing(!isEditing)}
          >
            Edit
          </button>
          {isLive ? (
            <button type="button" class="danger" disabled={busy} onClick={() => send(() => api.cancel(session))}>
              Cancel the run
            </button>
          ) : null}
        </div>
      ) : null}
      <Failed failed={failed ?? feed.failed} />
      {isEditing ? <SessionEditor session={session} close={() => setEditing(false)} /> : null}
      {feed.loaded && timeline.items.length === 0 && !feed.failed ? (
        <Empty title="Nothing has been said in this session yet.">
          {run && isLive ? <Waiting run={run} /> : <p>Say something below to begin a run in it.</p>}
        </Empty>
      ) : null}
      <TimelineView items={timeline.items} live={feed.live} acts={{ session, fork: may ? fork : undefined }} />
      {timeline.others > 0 ? (
        <p class="hint">
          What stood here before an edit is kept in its log: {timeline.others}{' '}
          {timeline.others === 1 ? 'event' : 'events'} beside these.
        </p>
      ) : null}
      {isWhole && run?.outcome ? <Outcome run={run} feed={feed} /> : null}
      <Announcer feed={feed} run={run} />
      {may && isThere ? (
        <Speaking
          session={session}
          before={run}
          isLive={isLive}
          isWhole={isWhole}
          isWanted={isSpokenTo && feed.loaded}
        />
      ) : null}
    </section>
  );
}

/** What the session was begun with. */
function firstWords({ items }: Timeline): string {
  const first = items.find((item) => item.type === 'input' || (item.type === 'said' && item.message.role === 'user'));
  if (first?.type === 'input') return first.text;
  return first?.type === 'said'
    ? first.message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    : '';
}

/** What the session came to: money, tokens, cache. */
function Sums({ timeline }: { readonly timeline: Timeline }): JSX.Element | null {
  const turns = timeline.items.filter(
    (item): item is Extract<Item, { type: 'turn' }> => item.type === 'turn' && item.ms !== undefined,
  );
  if (turns.length === 0) return null;
  const sum = (read: (item: (typeof turns)[number]) => number | undefined): number =>
    turns.reduce((all, turn) => all + (read(turn) ?? 0), 0);
  const input = sum(({ usage }) => usage?.input);
  const isCounted = turns.some(({ usage }) => usage?.input !== undefined || usage?.output !== undefined);
  const isTold = turns.some(({ usage }) => usage?.cacheRead !== undefined);
  const isPriced = turns.some(({ usd }) => usd !== undefined);
  return (
    <dl class="figures small">
      <Figure name="Model" value={timeline.model || 'not known'} />
      <Figure name="Turns" value={turns.length} note={callWords(sum(({ calls }) => calls.length))} />
      <Figure name="Cost" value={isPriced ? money(sum(({ usd }) => usd)) : 'not known'} />
      <Figure
        name="Tokens"
        value={isCounted ? `${short(input)} in, ${short(sum(({ usage }) => usage?.output))} out` : 'not reported'}
        note={
          isTold && input > 0
            ? `${percent(Math.min(1, sum(({ usage }) => usage?.cacheRead) / input))} from the cache`
            : 'cache not reported'
        }
      />
    </dl>
  );
}

const callWords = (calls: number): string => (calls === 1 ? '1 call' : `${calls} calls`);

type Way = 'steer' | 'follow-up';

type SpeakingProps = {
  readonly session: string;
  readonly before: FleetRun | undefined;
  readonly isLive: boolean;
  readonly isWhole: boolean;
  readonly isWanted: boolean;
};

/** Words to the session: into the run that goes on, or as the beginning of another. */
function Speaking({ session, before, isLive, isWhole, isWanted }: SpeakingProps): JSX.Element {
  const [words, setWords] = useDraft(`session ${session}`);
  const [how, setHow] = useState<Way>('steer');
  const [said, setSaid] = useState('');
  const { busy, failed, send } = useSending();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (isWanted) field.current?.focus();
  }, [isWanted]);
  const speak = (): void =>
    send(async () => {
      if (isLive) await api.steer(session, words, how);
      const begun = isLive ? undefined : (await api.ask('run', { ...sameAs(before), words, session }, freshId())).run;
      setSaid(isLive ? 'Sent. It is read at the next step.' : 'A run was begun.');
      setWords('');
      // Who looks at a run that has ended sees no other; who looks at the session does.
      if (begun && !isWhole) goTo('runs', begun.id);
    });
  return (
    <form
      class="composer speaking"
      onSubmit={(event) => {
        event.preventDefault();
        if (words.trim() !== '' && !busy) speak();
      }}
    >
      <label class="field-name" for="speaking">
        {isLive ? 'Steer this run' : 'Go on in this session'}
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
          {said}
        </span>
      </div>
      <Failed failed={failed} />
    </form>
  );
}
