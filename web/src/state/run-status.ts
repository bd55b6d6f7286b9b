// The status line of a run: turns, time, cost and model so far, from its timeline.
import type { FleetRun } from '../../../src/core/index.ts';
import { formatRetry } from '../text/format-retry.ts';
import type { Timeline, TimelineItem } from './timeline.ts';

/** The figures of the run that is active, or that ended last. */
export type RunStatusLine = {
  readonly turns: number;
  /** When it started. */
  readonly since: string | undefined;
  /** How long it took, if it has ended. */
  readonly ms: number | undefined;
  /** The cost; undefined if no price is known. */
  readonly usd: number | undefined;
  readonly tokens: number;
  readonly model: string;
  /** What a model call that is tried again waits for. */
  readonly retry?: string;
};

type TurnItem = Extract<TimelineItem, { type: 'turn' }>;

/** Returns the figures of the last run of a timeline. */
export function getRunStatus(timeline: Timeline, run: FleetRun | undefined): RunStatusLine {
  const since = timeline.runStarted ?? run?.started;
  const turns = timeline.items.filter(
    (item): item is TurnItem => item.type === 'turn' && (since === undefined || item.time >= since),
  );
  const sum = (read: (turn: TurnItem) => number | undefined): number =>
    turns.reduce((all, turn) => all + (read(turn) ?? 0), 0);
  const isPriced = turns.some(({ usd }) => usd !== undefined);
  const ended = run?.ended === undefined || since === undefined ? undefined : Date.parse(run.ended) - Date.parse(since);
  const requested = run?.settings['model'];
  const last = turns.at(-1);
  const retry = timeline.running && last && !last.message ? getRetry(last) : undefined;
  return {
    turns: turns.at(-1)?.turn ?? 0,
    since,
    ms: ended ?? (timeline.running ? undefined : sum(({ ms, calls }) => (ms ?? 0) + sumCalls(calls))),
    usd: isPriced ? sum(({ usd }) => usd) : undefined,
    tokens: sum(({ usage }) => (usage?.input ?? 0) + (usage?.output ?? 0)),
    model: timeline.model || (typeof requested === 'string' ? requested : ''),
    ...(retry === undefined ? {} : { retry }),
  };
}

/** Returns what an open turn waits for: the next attempt of its request, or a new turn after a failed one. */
function getRetry({ retries = [], failure }: TurnItem): string | undefined {
  const last = retries.at(-1);
  if (failure) return failure.retry ? `${failure.message.replace(/\.$/, '')}. Retrying.` : undefined;
  return last && formatRetry(last);
}

const sumCalls = (calls: TurnItem['calls']): number => calls.reduce((all, { result }) => all + (result?.ms ?? 0), 0);
