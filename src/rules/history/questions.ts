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
import { plainPath, untouched, type FileUse } from './file-uses.ts';
import type { EndedCall } from './open-calls.ts';
import { onShelf, shelved } from './shelf.ts';
import { noCalls, tryKey, untried, type ToolMark, type Try } from './tool-marks.ts';
import { history, type ModelMark } from './view.ts';

/** How often something failed, and how often in a row until now. */
export type Failures = { readonly total: number; readonly inARow: number; readonly last: string };

/** How often a tool failed; without a name, any tool. A refused call is no failure of its tool. */
export function failures(state: RunState, tool?: string): Failures {
  const seen = readView(state, history);
  if (tool !== undefined) {
    const { failed, inARow, why } = onShelf(seen.tools, tool) ?? noCalls;
    return { total: failed, inARow, last: why };
  }
  const marks = shelved(seen.tools).map(([, mark]) => mark);
  return { total: marks.reduce((sum, { failed }) => sum + failed, 0), inARow: seen.inARow, last: '' };
}

/** How a tool was used: calls, successes, failures, refusals, time and money, and the counts of this run and this turn of the user. */
export function toolUse(state: RunState, tool: string): ToolMark {
  const { tools, runs, userTurns } = readView(state, history);
  const mark = onShelf(tools, tool) ?? noCalls;
  const none = { calls: 0, retries: 0, ok: 0 };
  return {
    ...mark,
    run: mark.run.at === runs ? mark.run : { at: runs, ...none },
    turn: mark.turn.at === userTurns ? mark.turn : { at: userTurns, ...none },
  };
}

/** How many calls of any tool were made since this one was last called; since the beginning if it never was. */
export function callsSince(state: RunState, tools: readonly string[]): number {
  const seen = readView(state, history);
  return seen.made - Math.max(0, ...tools.map((tool) => onShelf(seen.tools, tool)?.seen ?? 0));
}

/** What was tried, the latest first: each tool with its arguments, how often, how often in vain, and whether its result repeats. */
export const tries = (state: RunState): readonly Try[] =>
  shelved(readView(state, history).tries)
    .map(([, tried]) => tried)
    .toSorted((a, b) => b.turn - a.turn);

/** What is known of this very call. */
export const triesOf = (state: RunState, { tool, input }: { readonly tool: string; readonly input: Json }): Try =>
  onShelf(readView(state, history).tries, tryKey(tool, input)) ?? { ...untried, tool, input: canonicalJson(input) };

/** Whether this very call failed before in this turn of the user: to make it again is a retry. */
export const isRetry = (state: RunState, call: { readonly tool: string; readonly input: Json }): boolean => {
  const { failedIn } = triesOf(state, call);
  return failedIn > 0 && failedIn === readView(state, history).userTurns;
};

/** How full the context is, and with what. */
export type ContextUse = ContextParts & {
  readonly used: number;
  readonly window: number | undefined;
  /** The part of the window that is used; 0 where the window is unknown. */
  readonly share: number;
};

/** How much context has accumulated, and by what. The sum is what the provider counted; the parts are estimates. */
export function contextUse(state: RunState): ContextUse {
  const window = state.limits?.context;
  const share = window ? state.context / window : 0;
  return { ...readView(state, history).context, used: state.context, window, share };
}

/** Calls that come back unchanged: how many make one round, how often the round came, and its tools. */
export type Loop = { readonly period: number; readonly times: number; readonly tools: readonly string[] };

/** Whether the latest calls go round in a circle of one to three calls with the same results; at least twice, or nothing. */
export function loop(state: RunState): Loop | undefined {
  const { steps } = readView(state, history);
  for (const period of [1, 2, 3]) {
    let run = period;
    while (run < steps.length && steps.at(-1 - run)?.is === steps.at(-1 - run + period)?.is) run++;
    const times = Math.floor(run / period);
    if (times >= 2) return { period, times, tools: steps.slice(-period).map(({ tool }) => tool) };
  }
  return undefined;
}

/** The files that tools worked on, the latest last, with how often each was read and changed. */
export const files = (state: RunState): readonly (TouchedFile & FileUse)[] =>
  state.files.map((mark) => ({ ...mark, ...fileUse(state, mark.path) }));

/** How often a file was read and changed. */
export const fileUse = (state: RunState, path: string): FileUse =>
  onShelf(readView(state, history).files, plainPath(path)) ?? untouched;

/** Something that was named, and how often. */
export type Mention = Entity & { readonly name: string };

/** What was named in the words of either side, the most often first, then by name. */
export const entities = (state: RunState, kind?: EntityKind): readonly Mention[] =>
  shelved(readView(state, history).entities)
    .map(([name, entity]) => ({ name, ...entity }))
    .filter((each) => kind === undefined || each.kind === kind)
    .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));

/** Time and money, of the run, of the session, by model and by tool. */
export type Spending = {
  readonly run: UsageTotals;
  readonly session: UsageTotals;
  readonly models: Readonly<Record<string, ModelMark>>;
  readonly tools: Readonly<Record<string, Pick<ToolMark, 'calls' | 'ms' | 'usd'>>>;
};

/** What was spent, and on what. */
export function spending(state: RunState): Spending {
  const { models, tools } = readView(state, history);
  return {
    run: state.spent,
    session: state.total,
    models: Object.fromEntries(shelved(models)),
    tools: Object.fromEntries(shelved(tools).map(([name, { calls, ms, usd }]) => [name, { calls, ms, usd }])),
  };
}

/** The call that the last event settled, if it settled one. */
export const endedCall = (state: RunState): EndedCall | undefined => readView(state, history).ended;

/** Milliseconds between the last event and the one before it. */
export const pause = (state: RunState): number => readView(state, history).pause;
