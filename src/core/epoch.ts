// Epochs and compaction: the only way to start a new prompt prefix. Each epoch records its reason.
import { raceAbort } from './abort.ts';
import { settleOpenCalls } from './call-fold.ts';
import { runEndedFacts } from './end-run.ts';
import { errorMessage } from './errors.ts';
import type { Baseline, EpochReason, Fact } from './fact.ts';
import { nextRequestTokens } from './pending-inputs.ts';
import { historyError } from './validate-history.ts';
import type { RunContext } from './loop.ts';
import type { Message } from './message.ts';
import type { ResolvedAgent, CompactionContext, CompactionResult } from './ports.ts';
import type { RunState } from './state.ts';
import { parseUsageTotals } from './usage-totals.ts';
import { messageTokens } from './tokens.ts';
import { toArray } from './persistent-list.ts';
import { serializeViews } from './projections.ts';

type EpochStarted = Fact & { readonly type: 'epoch-started' };

/** Creates an `epoch-started` fact. With messages it carries a baseline, so that a fold can start here. */
export function epochStartedFact(state: RunState, reason: EpochReason, messages?: readonly Message[]): EpochStarted {
  const { epoch, system, tools, model, cwd } = state;
  const where = cwd === undefined ? {} : { cwd };
  const fact: EpochStarted = { type: 'epoch-started', epoch: epoch + 1, reason, system, tools, model, ...where };
  return messages ? { ...fact, baseline: baselineOf(state, reason, messages) } : fact;
}

/** An edit goes back to before the run and a fork never had it, so neither carries the active run. */
function baselineOf(state: RunState, reason: EpochReason, messages: readonly Message[]): Baseline {
  const { session, turn, loaded, queue, total, pending, calls, files } = state;
  const base = {
    session,
    messages,
    turn,
    loaded,
    total,
    ...(files.length ? { files } : {}),
    ...serializeViews(state.viewStates),
    ...(state.nonce ? { nonce: state.nonce } : {}),
  };
  if (reason === 'edited') return { ...base, queue: [] };
  if (reason === 'started') return { ...base, queue };
  const rest = { ...base, queue, pending, ...(calls.length ? { calls } : {}) };
  const { run, limits, choice, spent, failures, answerRetries, compactions, rounds, due, verified, inTurn } = state;
  if (run === undefined || !limits) return rest;
  const activeRun = { run, limits, choice, spent, failures, answerRetries, compactions, rounds, due, verified, inTurn };
  return { ...rest, activeRun };
}

/** The result of a compaction attempt: shorter messages, or why there are none. Its usage counts either way. */
export type CompactionAttempt = CompactionResult & { readonly detail: string };

/** Compacts the history. If that fails, the run ends if the next request does not fit, and continues otherwise. */
export async function compact(agent: ResolvedAgent, context: RunContext): Promise<void> {
  const { writer, signal } = context;
  const made = await attemptCompaction(agent, writer.state, context);
  if (signal.aborted) return recordCompactionCost(writer, made);
  await writer.record(
    (state) => [...compactionFacts(state, made), ...(made.messages ? [] : contextFullFacts(state, made))],
    {
      durable: true,
    },
  );
}

/** Records the cost of an aborted compaction attempt. The history stays unchanged. */
export async function recordCompactionCost(head: RunContext['writer'], { spent }: CompactionAttempt): Promise<void> {
  if (!spent) return;
  const facts: readonly Fact[] = [{ type: 'compaction-failed', why: 'It was cancelled.', spent }];
  await head.record(facts, { durable: true });
}

/** The facts of a compaction attempt: a new epoch, or `compaction-failed`. */
export function compactionFacts(state: RunState, { messages, detail, spent }: CompactionAttempt): readonly Fact[] {
  const used = spent ? { spent } : {};
  return messages
    ? [{ ...epochStartedFact(state, 'compacted', messages), detail, ...used }]
    : [{ type: 'compaction-failed', why: detail, ...used }];
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
  const since = clock();
  const whole = settleOpenCalls(state, 'Not settled yet.');
  const patience = createDelayedSignal(signal);
  try {
    const context = { agent, signal, ...(focus === undefined ? {} : { focus }) };
    const made = await raceAbort(patience.signal, () => agent.compactor?.run(whole, context));
    const spent = made?.spent ? { spent: { ...parseUsageTotals(made.spent), ms: clock() - since } } : {};
    const detail = typeof made?.detail === 'string' ? made.detail : '';
    if (!made?.messages?.length) return { detail: detail || 'There is nothing that could be left out.', ...spent };
    const wrong = compactionError(toArray(whole.messages), made.messages, state.calls.length > 0);
    if (wrong !== undefined) return { detail: wrong, ...spent };
    return { messages: state.calls.length ? made.messages.slice(0, -1) : made.messages, detail, ...spent };
  } catch (error) {
    return { detail: errorMessage(error) };
  } finally {
    patience.release();
  }
}

/** Grace period in milliseconds in which an aborted compactor may still report its usage. */
const compactorGraceMs = 500;

/** A signal that aborts a little later than the given one; at once if that one is already aborted. */
function createDelayedSignal(signal: AbortSignal): { readonly signal: AbortSignal; release(): void } {
  const late = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const start = (): void => void (timer = setTimeout(() => late.abort(signal.reason), compactorGraceMs));
  if (signal.aborted) late.abort(signal.reason);
  else signal.addEventListener('abort', start, { once: true });
  return {
    signal: late.signal,
    release() {
      clearTimeout(timer);
      signal.removeEventListener('abort', start);
    },
  };
}

/** Returns why the compacted history cannot replace the old one; undefined if it can. */
function compactionError(before: readonly Message[], after: readonly Message[], open: boolean): string | undefined {
  const wrong = historyError(after);
  if (wrong !== undefined) return wrong;
  const [old, now] = [messageTokens(before), messageTokens(after)];
  if (!(now < old)) return `It would not be shorter: about ${now} tokens instead of ${old}.`;
  return open && JSON.stringify(before.at(-2)) !== JSON.stringify(after.at(-2))
    ? 'It would lose calls that are not settled yet.'
    : undefined;
}
