// Compacts the history of a run in a new epoch: runs the agent's compactor, verifies its result and records it with its cost.
import { raceAbort } from './abort.ts';
import { closeOpenCalls } from './call-fold.ts';
import { runEndedFacts } from './end-run.ts';
import { epochStartedFact } from './epoch.ts';
import { errorMessage } from './errors.ts';
import type { Fact } from './fact.ts';
import { nextRequestTokens } from './pending-inputs.ts';
import { historyError } from './validate-history.ts';
import type { RunContext } from './loop.ts';
import type { Message } from './message.ts';
import type { ResolvedAgent, CompactionContext, CompactionResult } from './ports.ts';
import type { RunState } from './state.ts';
import { parseUsageTotals } from './usage-totals.ts';
import { messageTokens } from './tokens.ts';
import { toArray } from './persistent-list.ts';

/** The result of a compaction attempt: shorter messages, or why there are none. Its usage counts either way. */
export type CompactionAttempt = CompactionResult & { readonly detail: string };

/** Compacts the history. If that fails, the run ends if the next request does not fit, and continues otherwise. */
export async function compact(agent: ResolvedAgent, context: RunContext): Promise<void> {
  const { writer, signal } = context;
  const attempt = await attemptCompaction(agent, writer.state, context);
  if (signal.aborted) return recordCompactionCost(writer, attempt);
  await writer.record(
    (state) => [...compactionFacts(state, attempt), ...(attempt.messages ? [] : contextFullFacts(state, attempt))],
    { durable: true },
  );
}

/** Records the cost of an aborted compaction attempt. The history stays unchanged. */
export async function recordCompactionCost(writer: RunContext['writer'], { spent }: CompactionAttempt): Promise<void> {
  if (!spent) return;
  const facts: readonly Fact[] = [{ type: 'compaction-failed', why: 'It was cancelled.', spent }];
  await writer.record(facts, { durable: true });
}

/** The facts of a compaction attempt: a new epoch, or `compaction-failed`. */
export function compactionFacts(state: RunState, { messages, detail, spent }: CompactionAttempt): readonly Fact[] {
  const cost = spent ? { spent } : {};
  return messages
    ? [{ ...epochStartedFact(state, 'compacted', messages), detail, ...cost }]
    : [{ type: 'compaction-failed', why: detail, ...cost }];
}

function contextFullFacts(state: RunState, { detail }: CompactionAttempt): readonly Fact[] {
  const fits = !state.failure && nextRequestTokens(state) <= (state.limits?.context ?? Number.POSITIVE_INFINITY);
  const why = `The conversation no longer fits the model and could not be made shorter: ${detail}`;
  return fits ? [] : runEndedFacts(state, { type: 'end', reason: 'token-budget', detail: why });
}

/** Runs the agent's compactor and accepts its result only if it is a valid history, smaller, and keeps all open calls. */
export async function attemptCompaction(
  agent: ResolvedAgent,
  state: RunState,
  { signal, clock, focus }: Pick<RunContext, 'signal' | 'clock'> & Pick<CompactionContext, 'focus'>,
): Promise<CompactionAttempt> {
  const startedAt = clock();
  const closedState = closeOpenCalls(state, 'This call has not ended yet.');
  const graceSignal = createDelayedSignal(signal);
  try {
    const context = { agent, signal, ...(focus === undefined ? {} : { focus }) };
    const result = await raceAbort(graceSignal.signal, () => agent.compactor?.run(closedState, context));
    const spent = result?.spent ? { spent: { ...parseUsageTotals(result.spent), ms: clock() - startedAt } } : {};
    const detail = typeof result?.detail === 'string' ? result.detail : '';
    if (!result?.messages?.length) return { detail: detail || 'There is nothing that could be left out.', ...spent };
    const rejection = compactionError(toArray(closedState.messages), result.messages, state.calls.length > 0);
    if (rejection !== undefined) return { detail: rejection, ...spent };
    return { messages: state.calls.length ? result.messages.slice(0, -1) : result.messages, detail, ...spent };
  } catch (error) {
    return { detail: errorMessage(error) };
  } finally {
    graceSignal.release();
  }
}

/** Grace period in milliseconds in which an aborted compactor may still report its usage. */
const compactorGraceMs = 500;

/** A signal that aborts a little later than the given one; at once if that one is already aborted. */
function createDelayedSignal(signal: AbortSignal): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const start = (): void => void (timer = setTimeout(() => controller.abort(signal.reason), compactorGraceMs));
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener('abort', start, { once: true });
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      signal.removeEventListener('abort', start);
    },
  };
}

/** Returns why the compacted history cannot replace the old one; undefined if it can. */
function compactionError(
  before: readonly Message[],
  after: readonly Message[],
  hasOpenCalls: boolean,
): string | undefined {
  const invalid = historyError(after);
  if (invalid !== undefined) return invalid;
  const [tokensBefore, tokensAfter] = [messageTokens(before), messageTokens(after)];
  if (!(tokensAfter < tokensBefore))
    return `It would not be shorter: about ${tokensAfter} tokens instead of ${tokensBefore}.`;
  return hasOpenCalls && JSON.stringify(before.at(-2)) !== JSON.stringify(after.at(-2))
    ? 'It would lose calls that have not ended yet.'
    : undefined;
}
