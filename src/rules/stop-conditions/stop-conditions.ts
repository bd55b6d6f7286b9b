// Stop conditions over the state of a run: each says why, with a reason out of the one closed union.
import {
  FairleadError,
  lastItem,
  messageText,
  type Message,
  type NamedView,
  type RunState,
  type Stop,
  type StopReason,
} from '../../core/index.ts';
import { toolFailures, detectLoop } from '../session-stats/selectors.ts';
import { sessionStats } from '../session-stats/view.ts';

/** What a stop condition found. */
export type StopDecision = { readonly reason: StopReason; readonly detail: string };

/** A stop condition with its name. It is an extension by itself, and can be one of a rule set. */
export type StopRule = {
  readonly name: string;
  readonly stops: readonly Stop[];
  readonly views: readonly NamedView<unknown>[];
  /** The condition itself, for those that combine several. */
  readonly evaluate: (state: RunState) => StopDecision | undefined;
};

/** Makes a stop condition. */
export const createStopRule = (
  name: string,
  halt: StopRule['evaluate'],
  views: readonly NamedView<unknown>[] = [sessionStats],
): StopRule => ({ name, evaluate: halt, stops: [halt], views });

/** A limit that is no number would never bind, so it is refused. */
function atLeast(name: string, value: number, least: number): number {
  if (value >= least) return value;
  throw new FairleadError(
    'rules/bad-limit',
    `The limit of ${name} must be a number of at least ${least}, not ${value}.`,
    {
      blame: 'user',
    },
  );
}

/** Whether there is more to do: a run that has its answer ends by that, whatever it used up. */
const hasPendingWork = ({ due, calls, pending }: RunState): boolean => due || calls.length > 0 || pending.length > 0;

const createLimit = (
  name: string,
  most: number,
  reason: StopReason,
  used: (state: RunState) => number,
  of: string,
): StopRule => {
  atLeast(name, most, 0);
  return createStopRule(
    name,
    (state) => {
      const now = used(state);
      return now >= most && hasPendingWork(state)
        ? { reason, detail: `${Number(now.toFixed(4))} of ${most} ${of} are used.` }
        : undefined;
    },
    [],
  );
};

/** Ends a run that needs another turn after so many of the provider's; the calls of the last one are still made. */
export const turnLimit = (turns: number): StopRule =>
  createLimit(
    'turn-limit',
    turns,
    'max-turns',
    ({ spent, inTurn, calls }) => (calls.length > 0 ? 0 : spent.turns - (inTurn ? 1 : 0)),
    'turns',
  );

/** Ends a run after so many tokens, in and out together. */
export const tokenBudget = (tokens: number): StopRule =>
  createLimit('token-budget', tokens, 'token-budget', ({ spent }) => spent.input + spent.output, 'tokens');

/** Ends a run after so many US dollars. A turn whose price nobody knows ends it too: what cannot be counted cannot be bounded. */
export function moneyBudget(usd: number): StopRule {
  const known = createLimit('money-budget', usd, 'money-budget', ({ spent }) => spent.usd, 'dollars');
  return createStopRule(
    'money-budget',
    (state) =>
      state.spent.turnsWithoutPrice > 0 && hasPendingWork(state)
        ? {
            reason: 'money-budget',
            detail: `The price of ${state.spent.turnsWithoutPrice} turns is unknown, so $${usd} cannot be kept.`,
          }
        : known.evaluate(state),
    [],
  );
}

/** Ends a run after so many milliseconds at work. */
export const timeLimit = (ms: number): StopRule =>
  createLimit('time-limit', ms, 'time', ({ spent }) => spent.ms, 'milliseconds');

/** Ends a run whose context holds more than so many tokens, or more than a share of the window where that is known. */
export function contextLimit(most: number | { readonly share: number }): StopRule {
  const limit = typeof most === 'number' ? atLeast('context', most, 0) : atLeast('context', most.share, 0);
  return createStopRule(
    'context-over',
    (state) => {
      const { context, limits } = state;
      const bound = typeof most === 'number' ? limit : (limits?.context ?? Number.POSITIVE_INFINITY) * limit;
      if (context <= bound || !hasPendingWork(state)) return undefined;
      return { reason: 'token-budget', detail: `The context holds ${context} tokens, more than ${Math.round(bound)}.` };
    },
    [],
  );
}

/** Ends a run after so many failures in a row, of one tool or of any. */
export function errorThreshold(most: number, tool?: string): StopRule {
  atLeast('errors', most, 1);
  return createStopRule('error-threshold', (state) => {
    const { inARow } = toolFailures(state, tool);
    if (inARow < most) return undefined;
    return { reason: 'error-threshold', detail: `${tool ?? 'Tools'} failed ${inARow} times in a row.` };
  });
}

/** Ends a run that makes the same one to three calls with the same results so many times. */
export function stuckLoop(times = 3): StopRule {
  atLeast('repetitions', times, 2);
  return createStopRule('stuck', (state) => {
    const found = detectLoop(state);
    if (!found || found.times < times) return undefined;
    return { reason: 'stuck', detail: `${found.tools.join(', ')} brought the same results ${found.times} times.` };
  });
}

/** The model's last words, once it has spoken and no call of it is open; nothing while it is at work. */
export function finalAnswer(state: RunState): string | undefined {
  if (state.inTurn || state.calls.length > 0 || state.pending.length > 0) return undefined;
  const said: Message | undefined = lastItem(state.messages);
  return said?.role === 'assistant' ? messageText(said) : undefined;
}

/** Ends a run as complete when the answer holds this text or fits this pattern. Checks are not asked: use `answerMatches` where they should be. */
export function expectedOutput(expected: string | RegExp): StopRule {
  const holds = createTextMatcher(expected);
  return createStopRule(
    'expected-output',
    (state) => {
      const answer = finalAnswer(state);
      if (answer === undefined || !holds(answer)) return undefined;
      return { reason: 'task-complete', detail: `The answer holds ${String(expected)}.` };
    },
    [],
  );
}

/** Whether a text holds what is expected of it; a pattern's own position is not used. */
export const createTextMatcher = (expected: string | RegExp): ((text: string) => boolean) =>
  typeof expected === 'string' ? (text) => text.includes(expected) : (text) => text.search(expected) >= 0;

/** Ends a run as complete when this is true of its state. */
export const taskComplete = (isComplete: (state: RunState) => boolean, detail = 'The task is complete.'): StopRule =>
  createStopRule('task-complete', (state) => (isComplete(state) ? { reason: 'task-complete', detail } : undefined));

/** Ends a run when this is true of its state; the text it gives is the detail. */
export const stopWhen = (
  name: string,
  test: (state: RunState) => boolean | string | undefined,
  views: readonly NamedView<unknown>[] = [],
): StopRule =>
  createStopRule(
    name,
    (state) => {
      const found = test(state);
      if (found === undefined || found === false || found === '') return undefined;
      return { reason: 'rule', detail: `${name}: ${found === true ? 'its condition holds.' : found}` };
    },
    [sessionStats, ...views],
  );
