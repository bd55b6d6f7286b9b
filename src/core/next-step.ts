// Computes the next step of a run from its state alone. Resuming a run is computing it again.
import { stopReasonOfFailure } from './abort.ts';
import { errorMessage, type Failure } from './errors.ts';
import type { StopReason } from './fact.ts';
import { nextRequestTokens } from './pending-inputs.ts';
import { isObject } from './json.ts';
import type { Check, ResolvedAgent } from './ports.ts';
import type { ToolCall, RunState } from './state.ts';

/** The next step of the loop. `rest`: nothing to do until a new fact arrives. */
export type Step =
  | { readonly type: 'rest' }
  | { readonly type: 'turn' }
  | { readonly type: 'calls'; readonly calls: readonly ToolCall[] }
  | { readonly type: 'check' }
  | { readonly type: 'compact' }
  | { readonly type: 'end'; readonly reason: StopReason; readonly detail?: string; readonly error?: Failure };

/** Returns the next step for this state. */
export function nextStep(state: RunState, agent: ResolvedAgent): Step {
  if (state.run === undefined) return { type: 'rest' };
  const stopStep = stopConditionStep(state, agent);
  if (stopStep) return stopStep;
  const open = state.calls.filter((call) => !call.result);
  if (open.length) return readyCallsStep(state, open, agent);
  if (state.completed) return { type: 'end', reason: 'task-complete' };
  if (state.abstained !== undefined) return { type: 'end', reason: 'abstained', detail: state.abstained };
  if (state.failure) return stepAfterFailure(state, state.failure, agent);
  if (state.truncated)
    return {
      type: 'end',
      reason: 'truncated',
      detail: 'The model reached its output limit; nothing after the cut was run.',
    };
  if (state.needsTurn || state.pending.some((input) => input.how !== 'follow-up'))
    return limitReachedStep(state, agent) ?? { type: 'turn' };
  if (!state.verified && agent.checks.some((check) => isCheckNeeded(check, state))) return { type: 'check' };
  if (state.pending.length) return limitReachedStep(state, agent) ?? { type: 'turn' };
  return { type: 'end', reason: 'answered' };
}

/** Evaluates the agent's stop conditions. A stop condition that throws ends the run. */
function stopConditionStep(state: RunState, agent: ResolvedAgent): Step | undefined {
  try {
    for (const stop of agent.stops) {
      const result: unknown = stop(state);
      if (!result) continue;
      const { reason, detail } = isObject(result) ? result : {};
      return {
        type: 'end',
        reason: typeof reason === 'string' ? (reason as StopReason) : 'rule',
        detail: typeof detail === 'string' ? detail : 'A stop condition ended the run.',
      };
    }
    return undefined;
  } catch (error) {
    return { type: 'end', reason: 'rule', detail: `A stop condition failed, so the run ends: ${errorMessage(error)}` };
  }
}

/** Whether a check has to run on the last answer. */
export function isCheckNeeded(check: Check, state: RunState): boolean {
  try {
    return check.appliesTo?.(state) !== false;
  } catch {
    return true;
  }
}

/** Max concurrent reads: one response may hold thousands of calls. */
const maxConcurrentCalls = 16;

/** Leading reads run concurrently; any other call runs alone. A call that waits for an approval does not block the others. */
function readyCallsStep(state: RunState, open: readonly ToolCall[], agent: ResolvedAgent): Step {
  const remainingCalls = (state.limits?.calls ?? Number.POSITIVE_INFINITY) - state.spent.calls;
  if (!(remainingCalls >= 1))
    return { type: 'end', reason: 'call-budget', detail: `Tool call limit (${state.spent.calls}) reached.` };
  const ready = open.filter((call) => !call.ask || call.ask.allowed !== undefined);
  if (ready.length === 0) return { type: 'rest' };
  const firstNonRead = ready.findIndex((call) => agent.tools.get(call.tool)?.effect !== 'read');
  return {
    type: 'calls',
    calls: ready.slice(
      0,
      Math.min(remainingCalls, maxConcurrentCalls, firstNonRead < 0 ? ready.length : Math.max(firstNonRead, 1)),
    ),
  };
}

function stepAfterFailure(state: RunState, failure: Failure, agent: ResolvedAgent): Step {
  const abortReason = stopReasonOfFailure(failure);
  if (abortReason) return { type: 'end', reason: abortReason, detail: failure.message };
  if (failure.code === 'provider/context-too-long' && agent.compactor && state.compactions === 0)
    return { type: 'compact' };
  if (!failure.retry) return { type: 'end', reason: 'provider-error', detail: failure.message, error: failure };
  return limitReachedStep(state, agent) ?? { type: 'turn' };
}

/** Checks limits before a step, never after it. Comparisons are written so that NaN counts as exceeded. */
function limitReachedStep(state: RunState, agent: ResolvedAgent): Step | undefined {
  const { limits, spent } = state;
  if (!limits) return undefined;
  const end = (reason: StopReason, detail: string): Step => ({
    type: 'end',
    reason,
    detail,
    ...(state.failure ? { error: state.failure } : {}),
  });
  if (!(state.failures < Math.max(1, limits.errors)) && state.failures > 0)
    return end(
      'error-threshold',
      `${state.failures} failures in a row${state.failure ? `, the last one: ${state.failure.message}` : ''}.`,
    );
  if (state.answerRetries > 0 && !(state.answerRetries <= limits.maxRetriesPerAnswer))
    return end(
      'error-threshold',
      `Asked ${state.answerRetries} times for an acceptable answer: ${state.queue.find((note) => note.key === 'answer-rejected')?.text ?? ''}`,
    );
  if (isStuck(state.callBatches, limits.stuckAfter))
    return end('stuck', `The same calls brought the same results ${limits.stuckAfter} times.`);
  if (!(spent.turns < limits.turns)) return end('max-turns', `Turn limit (${limits.turns}) reached.`);
  if (limits.ms !== undefined && !(spent.ms < limits.ms)) return end('time', `Time limit (${limits.ms} ms) reached.`);
  const usedTokens = spent.input + spent.output;
  const requestTokens = nextRequestTokens(state);
  if (limits.tokens !== undefined && !(usedTokens + requestTokens <= limits.tokens))
    return end(
      'token-budget',
      `${usedTokens} of ${limits.tokens} tokens are used and the next request needs about ${requestTokens}.`,
    );
  const exceedsContext = limits.context !== undefined && !(requestTokens <= limits.context);
  if (
    agent.compactor &&
    state.compactions === 0 &&
    (exceedsContext || shouldCompact(state, requestTokens, agent.compactor.threshold))
  )
    return { type: 'compact' };
  if (exceedsContext)
    return end(
      'token-budget',
      `The next request needs about ${requestTokens} tokens; the window has room for ${limits.context}.`,
    );
  return limits.usd === undefined ? undefined : moneyLimitStep(state, limits.usd, requestTokens, agent, end);
}

/** The share of the context window that must fill up again after a compaction, because each compaction invalidates the cached prefix. */
const minRefillShare = 0.1;

/** Returns true if the context window is full enough to compact now. */
function shouldCompact({ limits, contextAfterCompaction }: RunState, requestTokens: number, threshold = 1): boolean {
  const window = limits?.context ?? Number.POSITIVE_INFINITY;
  return requestTokens > window * threshold && requestTokens - contextAfterCompaction > window * minRefillShare;
}

function moneyLimitStep(
  state: RunState,
  usd: number,
  requestTokens: number,
  agent: ResolvedAgent,
  end: (reason: StopReason, detail: string) => Step,
): Step | undefined {
  const price = agent.provider.price;
  if (!price)
    return end(
      'money-budget',
      `The price of ${agent.provider.model} is unknown, so a budget of $${usd} cannot be enforced. Set its price, or run without a money budget.`,
    );
  const minCostUsd = (requestTokens * (price.cacheRead ?? price.input)) / 1e6;
  if (state.spent.usd + minCostUsd <= usd) return undefined;
  return end(
    'money-budget',
    `$${state.spent.usd.toFixed(4)} of $${usd} is spent and the next request costs at least $${minCostUsd.toFixed(4)}.`,
  );
}

/** Returns true if a cycle of one, two or three call batches repeated unchanged this many times. */
export function isStuck(callBatches: readonly number[], repeats: number): boolean {
  if (repeats < 2) return false;
  return [1, 2, 3].some((period) => {
    const span = callBatches.slice(-period * repeats);
    return span.length === period * repeats && span.every((batch, i) => batch === span[i % period]);
  });
}
