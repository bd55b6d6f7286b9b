// Follows a session: folds its events into a timeline, with partial text and the active run.
import { useEffect, useState } from 'preact/hooks';
import type { Event, FleetRun } from '../../../src/core/index.ts';
import { api, ApiError } from '../api/client.ts';
import { waitUntilOnline } from '../api/connection.ts';
import { followStream } from '../api/follow-stream.ts';
import { emptyTimeline, followsHead, applyEvent, buildTimeline, type Timeline } from '../state/timeline.ts';

/** The current state of a session. `live` is the partial text of the active turn. */
export type SessionFeed = {
  readonly timeline: Timeline;
  /** The events in log order, of all branches. */
  readonly events: readonly Event[];
  readonly live: { readonly turn: number; readonly text: string } | undefined;
  readonly run: FleetRun | undefined;
  readonly error: ApiError | undefined;
  readonly loaded: boolean;
};

/** What is followed: a run until it has ended, or a session while the component is mounted. */
export type FeedTarget =
  | { readonly run: string }
  | { readonly session: string }
  /** A session of the terminal, which is read again every few seconds. */
  | { readonly terminal: string };

const emptyFeed: SessionFeed = {
  timeline: emptyTimeline,
  events: [],
  live: undefined,
  run: undefined,
  error: undefined,
  loaded: false,
};

/** The max number of events per request for past events. */
const eventPageSize = 1000;

/** Follows a run or a session while the component is mounted. */
export function useSessionFeed(followed: FeedTarget | undefined): SessionFeed {
  const [feed, setFeed] = useState(emptyFeed);
  const of = followed === undefined ? '' : JSON.stringify(followed);
  useEffect(() => {
    setFeed(emptyFeed);
    if (followed === undefined) return undefined;
    const stop = new AbortController();
    const update = batchFrameUpdates(setFeed);
    void followTarget(followed, update, stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted && error instanceof ApiError) update({ error, loaded: true });
    });
    return () => stop.abort();
  }, [of]);
  return feed;
}

/** Renders at most once per frame. */
function batchFrameUpdates(draw: (feed: SessionFeed) => void): (patch: Partial<SessionFeed>) => void {
  let now = emptyFeed;
  let planned = false;
  return (patch) => {
    now = { ...now, ...patch };
    if (planned) return;
    planned = true;
    const show = (): void => {
      planned = false;
      draw(now);
    };
    // A hidden tab gets no animation frames, but must still update.
    if (document.hidden) setTimeout(show, 250);
    else requestAnimationFrame(show);
  };
}

async function followTarget(
  followed: FeedTarget,
  tell: (patch: Partial<SessionFeed>) => void,
  signal: AbortSignal,
): Promise<void> {
  let events: Event[] = [];
  let timeline = emptyTimeline;
  let live: SessionFeed['live'];
  let isStale = false;

  function take(event: Event): void {
    if (event.seq <= timeline.seq) return;
    events.push(event);
    timeline = followsHead(timeline, event) ? applyEvent(timeline, event) : buildTimeline(events);
    if (event.type === 'turn-ended' || event.type === 'turn-failed' || event.type === 'run-ended') live = undefined;
  }

  if ('terminal' in followed) {
    for (; !signal.aborted; await sleep(terminalPollMs)) {
      const more = await loadEvents(terminalPage(followed.terminal), timeline.seq, signal);
      for (const event of more) take(event);
      tell({ timeline, events: [...events], loaded: true });
    }
    return;
  }
  if ('session' in followed) {
    events = await loadEvents(serverPage(followed.session), 0, signal);
    timeline = buildTimeline(events);
    tell({ timeline, events, loaded: true });
  }
  const what =
    'run' in followed ? `run=${encodeURIComponent(followed.run)}` : `session=${encodeURIComponent(followed.session)}`;
  await followStream(`api/stream?${what}`, {
    signal,
    ...(timeline.seq > 0 ? { afterSeq: timeline.seq } : {}),
    // The server sends the partial text of the turn again from its start.
    onDisconnect: () => (isStale = true),
    onMessage({ event, data }) {
      if (event === 'event') take(JSON.parse(data) as Event);
      if (event === 'run') return tell({ run: JSON.parse(data) as FleetRun, loaded: true });
      if (event === 'chunk') {
        const { turn, text, restarted } = JSON.parse(data) as { turn: number; text: string; restarted?: boolean };
        const on = live?.turn === turn && !restarted && !isStale ? live.text : '';
        isStale = false;
        live = { turn, text: on + text };
      }
      tell({ timeline, events, live, loaded: true });
    },
  });
  tell({ loaded: true });
}

type EventPage = (page: { from: number; limit: number }, signal: AbortSignal) => Promise<{ events: readonly Event[] }>;

const serverPage =
  (session: string): EventPage =>
  (page, signal) =>
    api.session(session, page, signal);
const terminalPage =
  (session: string): EventPage =>
  (page, signal) =>
    api.terminalSession(session, page, signal);

/** Milliseconds between two reads of a session of the terminal. */
const terminalPollMs = 2500;
const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Loads all events after a sequence number. */
async function loadEvents(load: EventPage, after: number, signal: AbortSignal): Promise<Event[]> {
  const events: Event[] = [];
  for (;;) {
    const from = events.at(-1)?.seq ?? after;
    const answer = await load({ from, limit: eventPageSize }, signal).catch(async (error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 0) throw error;
      await waitUntilOnline(signal);
      return undefined;
    });
    if (signal.aborted) return events;
    if (answer === undefined) continue;
    const more = answer.events.filter(({ seq }) => seq > from);
    for (const item of more) events.push(item);
    if (more.length < eventPageSize - 1) return events;
  }
}
