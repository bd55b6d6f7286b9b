// Epochs: the only way a prefix may end and another begin, and each says why.
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

/** The fact that begins a new epoch: with a history of its own it holds all a fold needs, so a reader may start here. */
export function epochStartedFact(state: RunState, reason: EpochReason, messages?: readonly Message[]): EpochStarted {
  const { epoch, system, tools, model, cwd } = state;
  const where = cwd === undefined ? {} : { cwd };
  const fact: EpochStarted = { type: 'epoch-started', epoch: epoch + 1, reason, system, tools, model, ...where };
  return messages ? { ...fact, baseline: baselineOf(state, reason, messages) } : fact;
}

/** An edit goes back to before the run, and a new session never had it: neither takes it along. */
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

/** A history made shorter, or why it was not; what the attempt used up counts either way. */
export type CompactionAttempt = CompactionResult & { readonly detail: string };

/** Makes the history shorter. Where that cannot be done, a run without room ends and one that still has some goes on. */
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

/** Writes down what an attempt cost that was told to stop: the history stays as it was, the money is gone. */
export async function recordCompactionCost(head: RunContext['writer'], { spent }: CompactionAttempt): Promise<void> {
  if (!spent) return;
  const facts: readonly Fact[] = [{ type: 'compaction-failed', why: 'It was cancelled.', spent }];
  await head.record(facts, { durable: true });
}

/** What an attempt is in the log: a new epoch, or the refusal. */
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

/** The history of this state made shorter by the agent's compactor, if what it makes can be trusted: legal, smaller, open calls kept. */
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

/** Milliseconds in which a compactor that was told to stop may still say what it has used up. */
const compactorGraceMs = 500;

/** A signal that comes a little after another one, unless that has come already. */
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

/** Why a shorter history cannot take the place of the old one. */
function compactionError(before: readonly Message[], after: readonly Message[], open: boolean): string | undefined {
  const wrong = historyError(after);
  if (wrong !== undefined) return wrong;
  const [old, now] = [messageTokens(before), messageTokens(after)];
  if (!(now < old)) return `It would not be shorter: about ${now} tokens instead of ${old}.`;
  return open && JSON.stringify(before.at(-2)) !== JSON.stringify(after.at(-2))
    ? 'It would lose calls that are not settled yet.'
    : undefined;
}
