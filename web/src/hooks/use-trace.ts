// Loads the spans of a session, and those that changed whenever the session has new events or a span still lasts.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Span } from '../../../src/tracing/index.ts';
import { api, ApiError } from '../api/client.ts';
import type { TraceSpans } from '../api/types.ts';
import type { RequestSource } from '../components/request-view.tsx';
import { findLastTime, mergeSpans } from '../state/trace-rows.ts';

/** The spans so far, and the error of the last load. */
export type TraceFeed = TraceSpans & { readonly error: ApiError | undefined; readonly isLoaded: boolean };

const emptyTrace: TraceFeed = { spans: [], totalSpans: 0, error: undefined, isLoaded: false };

/** Milliseconds between two loads at least. */
const minPauseMs = 700;
/** Milliseconds between loads while a span lasts: the events of sub-agents are not in the events of the session. */
const pollMs = 2500;
/** Clocks of workers differ: spans that ended up to a minute before the last known time are loaded again. */
const overlapMs = 60_000;

/** Loads the trace; `seq` is the number of the last event of the session. */
export function useTrace({ source, session }: RequestSource, seq: number, isLive: boolean): TraceFeed {
  const of = `${source} ${session}`;
  const [feed, setFeed] = useState({ of, trace: emptyTrace });
  const state = useRef({ isLive, hasNews: () => {} });
  state.current.isLive = isLive;
  useEffect(() => {
    const stop = new AbortController();
    let spans: readonly Span[] = [];
    let isLoading = false;
    let isStale = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const plan = (ms: number): void => {
      clearTimeout(timer);
      timer = setTimeout(() => void load(), ms);
    };
    async function load(): Promise<void> {
      isLoading = true;
      isStale = false;
      const since = findLastTime(spans) - overlapMs;
      try {
        const answer = await api.trace(source, session, since > 0 ? { since } : {}, stop.signal);
        spans = mergeSpans(spans, answer.spans);
        setFeed({ of, trace: { spans, totalSpans: answer.totalSpans, error: undefined, isLoaded: true } });
      } catch (error) {
        if (stop.signal.aborted) return;
        if (error instanceof ApiError) setFeed((now) => ({ of, trace: { ...now.trace, error, isLoaded: true } }));
      }
      isLoading = false;
      if (stop.signal.aborted) return;
      if (isStale) plan(minPauseMs);
      else if (state.current.isLive || spans.some(({ end }) => end === undefined)) plan(pollMs);
    }
    // A load that has begun is completed: events may arrive faster than it.
    state.current.hasNews = () => {
      if (isLoading) isStale = true;
      else plan(spans.length === 0 ? 0 : minPauseMs);
    };
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [of]);
  useEffect(() => state.current.hasNews(), [of, seq, isLive]);
  return feed.of === of ? feed.trace : emptyTrace;
}
