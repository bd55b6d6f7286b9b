// A session as it goes on: its events folded as they come, what is being said, and the run that is in it.
import { useEffect, useState } from 'preact/hooks';
import type { Event, FleetRun } from '../../../src/core/index.ts';
import { api, ApiError } from '../wire/api.ts';
import { untilBack } from '../wire/connection.ts';
import { follow } from '../wire/follow.ts';
import { emptyTimeline, goesOn, step, timelineOf, type Timeline } from './timeline.ts';

/** What is known of a session now. `live` is what the turn under way has said so far, not yet settled. */
export type Feed = {
  readonly timeline: Timeline;
  readonly live: { readonly turn: number; readonly text: string } | undefined;
  readonly run: FleetRun | undefined;
  readonly failed: ApiError | undefined;
  readonly loaded: boolean;
};

/** What is followed: a run until it has ended, or a session for as long as it is looked at. */
export type Followed = { readonly run: string } | { readonly session: string };

const nothing: Feed = { timeline: emptyTimeline, live: undefined, run: undefined, failed: undefined, loaded: false };

/** Most events that one request for a session's past brings. */
const page = 1000;

/** Follows a run or a session while the component is drawn. */
export function useFeed(followed: Followed | undefined): Feed {
  const [feed, setFeed] = useState(nothing);
  const of = followed === undefined ? '' : JSON.stringify(followed);
  useEffect(() => {
    setFeed(nothing);
    if (followed === undefined) return undefined;
    const stop = new AbortController();
    const told = gather(setFeed);
    void watch(followed, told, stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted && error instanceof ApiError) told({ failed: error, loaded: true });
    });
    return () => stop.abort();
  }, [of]);
  return feed;
}

/** Draws at most once a frame, however much comes in between. */
function gather(draw: (feed: Feed) => void): (patch: Partial<Feed>) => void {
  let now = nothing;
  let planned = false;
  return (patch) => {
    now = { ...now, ...patch };
    if (planned) return;
    planned = true;
    const show = (): void => {
      planned = false;
      draw(now);
    };
    // A page behind another tab draws no frames, and still has to keep up.
    if (document.hidden) setTimeout(show, 250);
    else requestAnimationFrame(show);
  };
}

async function watch(followed: Followed, tell: (patch: Partial<Feed>) => void, signal: AbortSignal): Promise<void> {
  let events: Event[] = [];
  let timeline = emptyTimeline;
  let live: Feed['live'];
  let isStale = false;

  function take(event: Event): void {
    if (event.seq <= timeline.seq) return;
    events.push(event);
    timeline = goesOn(timeline, event) ? step(timeline, event) : timelineOf(events);
    if (event.type === 'turn-ended' || event.type === 'turn-failed' || event.type === 'run-ended') live = undefined;
  }

  if ('session' in followed) {
    events = await past(followed.session, signal);
    timeline = timelineOf(events);
    tell({ timeline, loaded: true });
  }
  const what =
    'run' in followed ? `run=${encodeURIComponent(followed.run)}` : `session=${encodeURIComponent(followed.session)}`;
  await follow(`api/stream?${what}`, {
    signal,
    ...(timeline.seq > 0 ? { after: timeline.seq } : {}),
    // What was said of the turn under way is told again from its beginning.
    broken: () => (isStale = true),
    seen({ event, data }) {
      if (event === 'event') take(JSON.parse(data) as Event);
      if (event === 'run') return tell({ run: JSON.parse(data) as FleetRun, loaded: true });
      if (event === 'chunk') {
        const { turn, text, restarted } = JSON.parse(data) as { turn: number; text: string; restarted?: boolean };
        const on = live?.turn === turn && !restarted && !isStale ? live.text : '';
        isStale = false;
        live = { turn, text: on + text };
      }
      tell({ timeline, live, loaded: true });
    },
  });
  tell({ loaded: true });
}

async function past(session: string, signal: AbortSignal): Promise<Event[]> {
  const events: Event[] = [];
  for (;;) {
    const from = events.at(-1)?.seq ?? 0;
    const answer = await api.session(session, { from, most: page }, signal).catch(async (error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 0) throw error;
      await untilBack(signal);
      return undefined;
    });
    if (answer === undefined) continue;
    const more = answer.events.filter(({ seq }) => seq > from);
    events.push(...more);
    if (more.length < page - 1) return events;
  }
}
