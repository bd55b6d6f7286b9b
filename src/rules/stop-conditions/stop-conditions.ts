// Stop conditions over the state of a run. Each gives one of the stop reasons.
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

/** The reason of a stop, with details. */
export type StopDecision = { readonly reason: StopReason; readonly detail: string };

/** A stop condition with a name. It is an extension by itself, and can be part of a rule set. */
export type StopRule = {
  readonly name: string;
  readonly stops: readonly Stop[];
  readonly views: readonly NamedView<unknown>[];
  /** The condition itself, for combinations. */
  readonly evaluate: (state: RunState) => StopDecision | undefined;
};

/** Creates a stop condition. */
export const createStopRule = (
  name: string,
  evaluate: StopRule['evaluate'],
  views: readonly NamedView<unknown>[] = [sessionStats],
): StopRule => ({ name, evaluate, stops: [evaluate], views });

/** Throws if a limit is not a number: it would never apply. */
function assertAtLeast(name: string, value: number, min: number): number {
  if (value >= min) return value;
  throw new FairleadError(
    'rules/bad-limit',
    `The limit of ${name} must be a number of at least ${min}, not ${value}.`,
    { blame: 'user' },
  );
}

/** Returns true if the run needs another turn. A run that has its answer ends anyway, whatever it used. */
const hasPendingWork = ({ needsTurn, calls, pending }: RunState): boolean =>
  needsTurn || calls.length > 0 || pending.length > 0;

const createLimit = (
  name: string,
  max: number,
  reason: StopReason,
  used: (state: RunState) => number,
  unit: string,
): StopRule => {
  assertAtLeast(name, max, 0);
  return createStopRule(
    name,
    (state) => {
      const amount = used(state);
      return amount >= max && hasPendingWork(state)
        ? { reason, detail: `${Number(amount.toFixed(4))} of ${max} ${unit} are used.` }
        : undefined;
    },
    [],
  );
};

/** Stops a run that needs another turn after this many provider turns. The calls of the last turn still run. */
export const turnLimit = (turns: number): StopRule =>
  createLimit(
    'turn-limit',
    turns,
    'max-turns',
    ({ spent, inTurn, calls }) => (calls.length > 0 ? 0 : spent.turns - (inTurn ? 1 : 0)),
    'turns',
  );

/** Stops a run after this many tokens, input and output together. */
export const tokenBudget = (tokens: number): StopRule =>
  createLimit('token-budget', tokens, 'token-budget', ({ spent }) => spent.input + spent.output, 'tokens');

/** Stops a run after this many US dollars. A turn with an unknown price stops it too, because its cost cannot be limited. */
export function moneyBudget(usd: number): StopRule {
  const known = createLimit('money-budget', usd, 'money-budget', ({ spent }) => spent.usd, 'dollars');
  return createStopRule(
    'money-budget',
    (state) =>
      state.spent.turnsWithoutPrice > 0 && hasPendingWork(state)
        ? {
            reason: 'money-budget',
            detail: `The price of ${state.spent.turnsWithoutPrice} turns is unknown, so the limit of $${usd} cannot be enforced.`,
          }
        : known.evaluate(state),
    [],
  );
}

/** Stops a run after this many milliseconds of work. */
export const timeLimit = (ms: number): StopRule =>
  createLimit('time-limit', ms, 'time', ({ spent }) => spent.ms, 'milliseconds');

/** Stops a run whose context exceeds a number of tokens, or a share of the context window if that is known. */
export function contextLimit(max: number | { readonly share: number }): StopRule {
  const limit = typeof max === 'number' ? assertAtLeast('context', max, 0) : assertAtLeast('context', max.share, 0);
  return createStopRule(
    'context-over',
    (state) => {
      const { context, limits } = state;
      const bound = typeof max === 'number' ? limit : (limits?.context ?? Number.POSITIVE_INFINITY) * limit;
      if (context <= bound || !hasPendingWork(state)) return undefined;
      return {
        reason: 'token-budget',
        detail: `The context contains ${context} tokens, more than ${Math.round(bound)}.`,
      };
    },
    [],
  );
}

/** Stops a run after this many failures in a row, of one tool or of any. */
export function errorThreshold(max: number, tool?: string): StopRule {
  assertAtLeast('errors', max, 1);
  return createStopRule('error-threshold', (state) => {
    const { inARow } = toolFailures(state, tool);
    if (inARow < max) return undefined;
    return { reason: 'error-threshold', detail: `${tool ?? 'Tools'} failed ${inARow} times in a row.` };
  });
}

/** Stops a run that repeats the same one to three calls with the same results this many times. */
export function stuckLoop(times = 3): StopRule {
  assertAtLeast('repetitions', times, 2);
  return createStopRule('stuck', (state) => {
    const loop = detectLoop(state);
    if (!loop || loop.times < times) return undefined;
    return { reason: 'stuck', detail: `${loop.tools.join(', ')} returned the same results ${loop.times} times.` };
  });
}

/** Returns the final answer of the model, if no call is open; undefined while it is still working. */
export function finalAnswer(state: RunState): string | undefined {
  if (state.inTurn || state.calls.length > 0 || state.pending.length > 0) return undefined;
  const last: Message | undefined = lastItem(state.messages);
  return last?.role === 'assistant' ? messageText(last) : undefined;
}

/** Stops a run as complete when the answer contains this text or matches this pattern. Checks are not run: use `answerMatches` for that. */
export function expectedOutput(expected: string | RegExp): StopRule {
  const matches = createTextMatcher(expected);
  return createStopRule(
    'expected-output',
    (state) => {
      const answer = finalAnswer(state);
      if (answer === undefined || !matches(answer)) return undefined;
      return { reason: 'task-complete', detail: `The answer contains ${String(expected)}.` };
    },
    [],
  );
}

/** Creates a test whether a text contains or matches what is expected. Ignores `lastIndex` of a pattern. */
export const createTextMatcher = (expected: string | RegExp): ((text: string) => boolean) =>
  typeof expected === 'string' ? (text) => text.includes(expected) : (text) => text.search(expected) >= 0;

/** Stops a run as complete when this is true of its state. */
export const taskComplete = (isComplete: (state: RunState) => boolean, detail = 'The task is complete.'): StopRule =>
  createStopRule('task-complete', (state) => (isComplete(state) ? { reason: 'task-complete', detail } : undefined));

/** Stops a run when this is true of its state. A returned text becomes the detail. */
export const stopWhen = (
  name: string,
  test: (state: RunState) => boolean | string | undefined,
  views: readonly NamedView<unknown>[] = [],
): StopRule =>
  createStopRule(
    name,
    (state) => {
      const result = test(state);
      if (result === undefined || result === false || result === '') return undefined;
      return { reason: 'rule', detail: `${name}: ${result === true ? 'its condition is true.' : result}` };
    },
    [sessionStats, ...views],
  );
