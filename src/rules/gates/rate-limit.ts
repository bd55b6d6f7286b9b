// Rate limits: a max number of calls or retries of a tool per user turn, run or number of minutes.
import {
  isObject,
  readView,
  type ToolCall,
  type Event,
  type Json,
  type NamedView,
  type RunState,
} from '../../core/index.ts';
import type { ExampleStep } from '../testing/fixture-log.ts';
import { isRetry, toolStats } from '../session-stats/selectors.ts';
import { updateOpenCalls, type OpenCall } from '../session-stats/open-calls.ts';
import { attemptKey } from '../session-stats/tool-stats.ts';
import { sessionStats } from '../session-stats/view.ts';
import { earlierOpenCalls, defineGate, type GateRule } from './gate-rule.ts';

/** How often a tool may be called. */
export type RateLimit = {
  /** The name of the rule. */
  readonly name?: string;
  /** The tool that is limited; all tools by default. */
  readonly tool: string;
  /** The maximum number. */
  readonly most: number;
  /** A user turn (from one prompt or follow-up to the next), a run, or the last number of minutes. */
  readonly per: 'turn' | 'run' | { readonly minutes: number };
  /** A retry is the same tool with the same arguments after that call failed in this user turn. Default `calls`. */
  readonly count?: 'calls' | 'retries';
};

/** Denies a call of a tool that was called too often. */
export function rateLimit(limit: RateLimit): GateRule {
  const { tool, most, per, count = 'calls' } = limit;
  const span = typeof per === 'string' ? per : `${per.minutes} minutes`;
  const name = limit.name ?? `${most}-${count}-of-${tool}-per-${span.replace(' ', '-')}`;
  const recent = typeof per === 'string' ? undefined : recentCallsView(`recent-calls/${name}`, limit);
  const usedCount = (state: RunState): number => {
    if (recent && typeof per !== 'string') {
      const { times, now } = readView(state, recent);
      return times.filter((time) => now - time < per.minutes * 60_000).length;
    }
    const { calls, retries } = toolStats(state, tool)[per === 'run' ? 'run' : 'turn'];
    return count === 'calls' ? calls : retries;
  };
  const isCounted = (each: Pick<ToolCall, 'tool' | 'input'>, state: RunState): boolean =>
    each.tool === tool && (count === 'calls' || isRetry(state, each));
  return defineGate({
    name,
    description: `${tool} is allowed ${most} ${count} per ${span === 'turn' ? 'user turn' : span}.`,
    views: [sessionStats, ...(recent ? [recent] : [])],
    decide: (call, state) => {
      if (!isCounted(call, state)) return undefined;
      const earlierCount = earlierOpenCalls(call, state).filter((each) => isCounted(each, state)).length;
      // A call that was interrupted by a crash is evaluated again, and is already counted.
      const ownCount = call.key === undefined ? 0 : 1;
      if (usedCount(state) - ownCount + earlierCount < most) return undefined;
      const advice =
        count === 'calls' ? 'Continue without it.' : 'It failed each time: change what you do instead of repeating it.';
      return { deny: `${tool} is allowed ${most} ${count} per ${span}. ${advice}` };
    },
    examples: rateLimitExamples(limit, count),
  });
}

/** An example contains every call, so higher limits have no examples. */
const maxExampleCalls = 100;

function rateLimitExamples({ tool, most, per }: RateLimit, count: 'calls' | 'retries'): GateRule['examples'] {
  if (!(most <= maxExampleCalls)) return [];
  const callStep = (input: Json): ExampleStep =>
    count === 'calls' ? { called: tool, input } : { called: tool, input, outcome: 'failed', result: 'It failed.' };
  const historyOf = (times: number): readonly ExampleStep[] => [
    { said: 'go' },
    ...Array.from({ length: times + (count === 'calls' ? 0 : 1) }, () => callStep({ n: 1 })),
  ];
  const call = { tool, input: { n: 1 } };
  return [
    ...(most > 0
      ? [{ title: 'the last one allowed', history: historyOf(most - 1), call, decides: 'allow' as const }]
      : []),
    { title: 'one too many', history: historyOf(most), call, decides: 'deny' },
    ...(per === 'turn'
      ? [
          {
            title: 'one in the next user turn',
            history: [...historyOf(most), { said: 'again' }],
            call,
            decides: most > 0 || count === 'retries' ? ('allow' as const) : ('deny' as const),
          },
        ]
      : []),
    ...(count === 'retries'
      ? [
          {
            title: 'the same tool with other arguments',
            history: historyOf(most),
            call: { tool, input: { n: 2 } },
            decides: 'allow' as const,
          },
        ]
      : []),
  ];
}

type RecentCalls = {
  readonly calls: readonly OpenCall[];
  readonly failed: readonly string[];
  readonly times: readonly number[];
  readonly now: number;
};

/** Creates a view of the start times of the latest calls or retries of a tool. Times come from the log, so a replay decides the same. */
function recentCallsView(name: string, { tool, most, count }: RateLimit): NamedView<RecentCalls> {
  return {
    name,
    initial: { calls: [], failed: [], times: [], now: 0 },
    on(state, event) {
      const now = Date.parse(event.time) || state.now;
      const next = { ...state, now, calls: updateOpenCalls(state.calls, event) };
      const call = 'call' in event ? state.calls.find(({ id }) => id === event.call) : undefined;
      return call?.tool === tool ? updateCounts(next, call, event) : next;
    },
    serialize: ({ failed, times, now }) => ({ failed, times, now }),
    restore: (stored) => {
      const { failed, times, now } = isObject(stored) ? stored : {};
      if (!isListOf(failed, 'string') || !isListOf(times, 'number') || typeof now !== 'number') return undefined;
      return { calls: [], failed: failed as readonly string[], times: times as readonly number[], now };
    },
  };

  function updateCounts(state: RecentCalls, call: OpenCall, event: Event): RecentCalls {
    const key = attemptKey(call.tool, call.input);
    if (event.type === 'tool-started' && !call.started && (count !== 'retries' || state.failed.includes(key)))
      return { ...state, times: [...state.times, state.now].slice(-Math.max(1, most)) };
    if (event.type !== 'tool-ended') return state;
    const others = state.failed.filter((each) => each !== key);
    return { ...state, failed: event.outcome === 'ok' ? others : [...others, key].slice(-16) };
  }
}

const isListOf = (value: unknown, of: 'string' | 'number'): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === of);
