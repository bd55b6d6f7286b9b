// Selectors over the session statistics: one function per question, on the state alone. Rules, gates, stop conditions, hooks and user interfaces share them.
import {
  canonicalJson,
  readView,
  type TouchedFile,
  type Json,
  type RunState,
  type UsageTotals,
  maxOf,
} from '../../core/index.ts';
import type { ContextParts } from './context-parts.ts';
import type { Entity, EntityKind } from './entities.ts';
import { normalizePath, unusedFile, type FileUse } from './file-uses.ts';
import type { EndedCall } from './open-calls.ts';
import { lruGet, lruEntries } from './lru-map.ts';
import { emptyToolStats, attemptKey, noAttempts, type ToolStats, type CallAttempts } from './tool-stats.ts';
import { sessionStats, type ModelStats } from './view.ts';

/** Failures in total, and in a row until now. */
export type ToolFailures = { readonly total: number; readonly inARow: number; readonly last: string };

/** Returns the failures of a tool; of any tool if no name is given. A denied call is not a failure of its tool. */
export function toolFailures(state: RunState, tool?: string): ToolFailures {
  const stats = readView(state, sessionStats);
  if (tool !== undefined) {
    const { failed, inARow, why } = lruGet(stats.tools, tool) ?? emptyToolStats;
    return { total: failed, inARow, last: why };
  }
  const toolEntries = lruEntries(stats.tools).map(([, entry]) => entry);
  return { total: toolEntries.reduce((sum, { failed }) => sum + failed, 0), inARow: stats.inARow, last: '' };
}

/** Returns the statistics of a tool: calls, successes, failures, denials, time and cost, with counts of this run and this user turn. */
export function toolStats(state: RunState, tool: string): ToolStats {
  const { tools, runs, userTurns } = readView(state, sessionStats);
  const stats = lruGet(tools, tool) ?? emptyToolStats;
  const noCalls = { calls: 0, retries: 0, ok: 0 };
  return {
    ...stats,
    run: stats.run.at === runs ? stats.run : { at: runs, ...noCalls },
    turn: stats.turn.at === userTurns ? stats.turn : { at: userTurns, ...noCalls },
  };
}

/** Returns how many calls of any tool started since this tool was last called; since the start of the session if never. */
export function callsSince(state: RunState, tools: readonly string[]): number {
  const stats = readView(state, sessionStats);
  return (
    stats.made -
    maxOf(
      tools.map((tool) => lruGet(stats.tools, tool)?.seen ?? 0),
      0,
    )
  );
}

/** Returns all attempted calls, the latest first: tool and arguments, attempts, failures, and whether results repeat. */
export const callAttempts = (state: RunState): readonly CallAttempts[] =>
  lruEntries(readView(state, sessionStats).tries)
    .map(([, tried]) => tried)
    .toSorted((a, b) => b.turn - a.turn);

/** Returns the attempts of exactly this call. */
export const attemptsOf = (
  state: RunState,
  { tool, input }: { readonly tool: string; readonly input: Json },
): CallAttempts =>
  lruGet(readView(state, sessionStats).tries, attemptKey(tool, input)) ?? {
    ...noAttempts,
    tool,
    input: canonicalJson(input),
  };

/** Returns true if exactly this call failed before in this user turn, so that it is a retry. */
export const isRetry = (state: RunState, call: { readonly tool: string; readonly input: Json }): boolean => {
  const { failedIn } = attemptsOf(state, call);
  return failedIn > 0 && failedIn === readView(state, sessionStats).userTurns;
};

/** How full the context is, and with what. */
export type ContextUsage = ContextParts & {
  readonly used: number;
  readonly window: number | undefined;
  /** The used share of the context window; 0 if the window is unknown. */
  readonly share: number;
};

/** Returns the context usage. The total is what the provider counted; the parts are estimates. */
export function contextUsage(state: RunState): ContextUsage {
  const window = state.limits?.context;
  const share = window ? state.context / window : 0;
  return { ...readView(state, sessionStats).context, used: state.context, window, share };
}

/** A loop of repeated calls: calls per cycle, number of cycles, and its tools. */
export type CallLoop = { readonly period: number; readonly times: number; readonly tools: readonly string[] };

/** Detects whether the latest calls repeat a cycle of one to three calls with the same results, at least twice; otherwise undefined. */
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

/** Returns the files that tools used, the latest last, with their read and change counts. */
export const touchedFiles = (state: RunState): readonly (TouchedFile & FileUse)[] =>
  state.files.map((file) => ({ ...file, ...fileUsage(state, file.path) }));

/** Returns how often a file was read and changed. */
export const fileUsage = (state: RunState, path: string): FileUse =>
  lruGet(readView(state, sessionStats).files, normalizePath(path)) ?? unusedFile;

/** An entity, and how often it was mentioned. */
export type EntityMention = Entity & { readonly name: string };

/** Returns the mentioned entities, the most frequent first, then by name. */
export const mentionedEntities = (state: RunState, kind?: EntityKind): readonly EntityMention[] =>
  lruEntries(readView(state, sessionStats).entities)
    .map(([name, entity]) => ({ name, ...entity }))
    .filter((each) => kind === undefined || each.kind === kind)
    .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));

/** Time and cost of the run and the session, by model and by tool. */
export type SpendingBreakdown = {
  readonly run: UsageTotals;
  readonly session: UsageTotals;
  readonly models: Readonly<Record<string, ModelStats>>;
  readonly tools: Readonly<Record<string, Pick<ToolStats, 'calls' | 'ms' | 'usd'>>>;
};

/** Returns what was spent, and on what. */
export function spendingBreakdown(state: RunState): SpendingBreakdown {
  const { models, tools } = readView(state, sessionStats);
  return {
    run: state.spent,
    session: state.total,
    models: Object.fromEntries(lruEntries(models)),
    tools: Object.fromEntries(lruEntries(tools).map(([name, { calls, ms, usd }]) => [name, { calls, ms, usd }])),
  };
}

/** Returns the call that the last event ended, if any. */
export const endedCall = (state: RunState): EndedCall | undefined => readView(state, sessionStats).ended;

/** Returns the milliseconds between the last two events. */
export const idleMs = (state: RunState): number => readView(state, sessionStats).pause;
