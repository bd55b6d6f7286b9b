// What can be asked about a session: one function a question, over the state alone; rules, gates, stops, hooks and screens ask the same ones.
import {
  canonicalJson,
  readView,
  type TouchedFile,
  type Json,
  type RunState,
  type UsageTotals,
} from '../../core/index.ts';
import type { ContextParts } from './context-parts.ts';
import type { Entity, EntityKind } from './entities.ts';
import { normalizePath, unusedFile, type FileUse } from './file-uses.ts';
import type { EndedCall } from './open-calls.ts';
import { lruGet, lruEntries } from './lru-map.ts';
import { emptyToolStats, attemptKey, noAttempts, type ToolStats, type CallAttempts } from './tool-stats.ts';
import { sessionStats, type ModelStats } from './view.ts';

/** How often something failed, and how often in a row until now. */
export type ToolFailures = { readonly total: number; readonly inARow: number; readonly last: string };

/** How often a tool failed; without a name, any tool. A refused call is no failure of its tool. */
export function toolFailures(state: RunState, tool?: string): ToolFailures {
  const seen = readView(state, sessionStats);
  if (tool !== undefined) {
    const { failed, inARow, why } = lruGet(seen.tools, tool) ?? emptyToolStats;
    return { total: failed, inARow, last: why };
  }
  const marks = lruEntries(seen.tools).map(([, mark]) => mark);
  return { total: marks.reduce((sum, { failed }) => sum + failed, 0), inARow: seen.inARow, last: '' };
}

/** How a tool was used: calls, successes, failures, refusals, time and money, and the counts of this run and this turn of the user. */
export function toolStats(state: RunState, tool: string): ToolStats {
  const { tools, runs, userTurns } = readView(state, sessionStats);
  const mark = lruGet(tools, tool) ?? emptyToolStats;
  const none = { calls: 0, retries: 0, ok: 0 };
  return {
    ...mark,
    run: mark.run.at === runs ? mark.run : { at: runs, ...none },
    turn: mark.turn.at === userTurns ? mark.turn : { at: userTurns, ...none },
  };
}

/** How many calls of any tool were made since this one was last called; since the beginning if it never was. */
export function callsSince(state: RunState, tools: readonly string[]): number {
  const seen = readView(state, sessionStats);
  return seen.made - Math.max(0, ...tools.map((tool) => lruGet(seen.tools, tool)?.seen ?? 0));
}

/** What was tried, the latest first: each tool with its arguments, how often, how often in vain, and whether its result repeats. */
export const callAttempts = (state: RunState): readonly CallAttempts[] =>
  lruEntries(readView(state, sessionStats).tries)
    .map(([, tried]) => tried)
    .toSorted((a, b) => b.turn - a.turn);

/** What is known of this very call. */
export const attemptsOf = (
  state: RunState,
  { tool, input }: { readonly tool: string; readonly input: Json },
): CallAttempts =>
  lruGet(readView(state, sessionStats).tries, attemptKey(tool, input)) ?? {
    ...noAttempts,
    tool,
    input: canonicalJson(input),
  };

/** Whether this very call failed before in this turn of the user: to make it again is a retry. */
export const isRetry = (state: RunState, call: { readonly tool: string; readonly input: Json }): boolean => {
  const { failedIn } = attemptsOf(state, call);
  return failedIn > 0 && failedIn === readView(state, sessionStats).userTurns;
};

/** How full the context is, and with what. */
export type ContextUsage = ContextParts & {
  readonly used: number;
  readonly window: number | undefined;
  /** The part of the window that is used; 0 where the window is unknown. */
  readonly share: number;
};

/** How much context has accumulated, and by what. The sum is what the provider counted; the parts are estimates. */
export function contextUsage(state: RunState): ContextUsage {
  const window = state.limits?.context;
  const share = window ? state.context / window : 0;
  return { ...readView(state, sessionStats).context, used: state.context, window, share };
}

/** Calls that come back unchanged: how many make one round, how often the round came, and its tools. */
export type CallLoop = { readonly period: number; readonly times: number; readonly tools: readonly string[] };

/** Whether the latest calls go round in a circle of one to three calls with the same results; at least twice, or nothing. */
export function detectLoop(state: RunState): CallLoop | undefined {
  const { steps } = readView(state, sessionStats);
  for (const period of [1, 2, 3]) {
    let run = period;
    while (run < steps.length && steps.at(-1 - run)?.is === steps.at(-1 - run + period)?.is) run++;
    const times = Math.floor(run / period);
    if (times >= 2) return { period, times, tools: steps.slice(-period).map(({ tool }) => tool) };
  }
  return undefined;
}

/** The files that tools worked on, the latest last, with how often each was read and changed. */
export const touchedFiles = (state: RunState): readonly (TouchedFile & FileUse)[] =>
  state.files.map((mark) => ({ ...mark, ...fileUsage(state, mark.path) }));

/** How often a file was read and changed. */
export const fileUsage = (state: RunState, path: string): FileUse =>
  lruGet(readView(state, sessionStats).files, normalizePath(path)) ?? unusedFile;

/** Something that was named, and how often. */
export type EntityMention = Entity & { readonly name: string };

/** What was named in the words of either side, the most often first, then by name. */
export const mentionedEntities = (state: RunState, kind?: EntityKind): readonly EntityMention[] =>
  lruEntries(readView(state, sessionStats).entities)
    .map(([name, entity]) => ({ name, ...entity }))
    .filter((each) => kind === undefined || each.kind === kind)
    .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));

/** Time and money, of the run, of the session, by model and by tool. */
export type SpendingBreakdown = {
  readonly run: UsageTotals;
  readonly session: UsageTotals;
  readonly models: Readonly<Record<string, ModelStats>>;
  readonly tools: Readonly<Record<string, Pick<ToolStats, 'calls' | 'ms' | 'usd'>>>;
};

/** What was spent, and on what. */
export function spendingBreakdown(state: RunState): SpendingBreakdown {
  const { models, tools } = readView(state, sessionStats);
  return {
    run: state.spent,
    session: state.total,
    models: Object.fromEntries(lruEntries(models)),
    tools: Object.fromEntries(lruEntries(tools).map(([name, { calls, ms, usd }]) => [name, { calls, ms, usd }])),
  };
}

/** The call that the last event settled, if it settled one. */
export const endedCall = (state: RunState): EndedCall | undefined => readView(state, sessionStats).ended;

/** Milliseconds between the last event and the one before it. */
export const idleMs = (state: RunState): number => readView(state, sessionStats).pause;
