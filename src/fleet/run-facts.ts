// Reads from a session log what the queue needs to know of a run: pending approvals, outcome, earlier attempts.
import {
  FairleadError,
  pendingApprovals,
  unwrapDeferredCall,
  fold,
  getAnswerText,
  isObject,
  parseTraceContext,
  runStateView,
  systemPort,
  type Event,
  type FleetRun,
  type Log,
  type NamedView,
  type ProcessPort,
  type ApprovalQuestion,
  type ApprovalScope,
  type PendingApproval,
  type RunOutcome,
  type RunState,
  type TraceContext,
} from '../core/index.ts';

/** Returns the pending approvals of a run, with the scopes that the agent offers for each. */
export async function listOpenQuestions(
  state: RunState,
  listScopes?: (pending: PendingApproval) => Promise<readonly ApprovalScope[]>,
): Promise<readonly ApprovalQuestion[]> {
  const questions: ApprovalQuestion[] = [];
  for (const pending of pendingApprovals(state)) {
    const target = unwrapDeferredCall(pending);
    const { id, input: _input, ...question } = typeof target === 'string' ? pending : target;
    const scopes = pending.kind === undefined ? ((await listScopes?.(pending)) ?? []) : [];
    questions.push({ call: id, ...question, ...(scopes.length > 0 ? { scopes } : {}) });
  }
  return questions;
}

/** Returns the outcome of the run that has ended in this state. */
export function getRunOutcome(state: RunState): RunOutcome {
  const { ended, spent, calls } = state;
  // Any other end of a run gives open calls a result, so calls without one belong to the client.
  const clientToolCalls = calls.flatMap(({ id, tool, input, sent, result }) =>
    result ? [] : [{ id, tool, input: sent ?? input }],
  );
  const { reason = 'cancelled', detail, error } = ended ?? {};
  return {
    reason,
    ...getAnswerText(state),
    spent,
    ...(detail === undefined ? {} : { detail }),
    ...(error ? { error } : {}),
    ...(clientToolCalls.length > 0 ? { clientToolCalls } : {}),
  };
}

/** The trace of the request that queued the run, as its server recorded it. */
export function getRunTrace({ settings: { trace } }: FleetRun): { readonly trace?: TraceContext } {
  const context = isObject(trace) ? parseTraceContext(trace['traceparent'], trace['tracestate']) : undefined;
  return context ? { trace: context } : {};
}

/** What an earlier attempt recorded: whether the prompt is in the log, and the outcome if the run has ended. */
export type PreviousAttempt = { readonly promptRecorded: boolean; readonly outcome?: RunOutcome };

/** Searches all branches of a log for an earlier attempt: after an edit, its prompt may be on another branch. */
export async function findPreviousAttempt(
  log: Pick<Log, 'read' | 'follow'>,
  lastSeq: number,
  run: string,
  { timer }: Pick<ProcessPort, 'timer'> = systemPort,
): Promise<PreviousAttempt> {
  let promptRecorded = false;
  let readSeq = 0;
  // A crash of the store may have lost the last events since the log was read: they never come.
  const lost = new AbortController();
  let cancel = (): void => {};
  const watch = (from: number): void => {
    cancel = timer(maxReadWaitMs, () => (readSeq > from ? watch(readSeq) : lost.abort()));
  };
  watch(0);
  try {
    for await (const event of lastSeq > 0 ? log.follow(0, lost.signal) : []) {
      readSeq = event.seq;
      if (event.type === 'input-received' && event.input === run) promptRecorded = true;
      if (promptRecorded && event.type === 'run-ended')
        return { promptRecorded, outcome: await getRunOutcomeAt(log, event) };
      if (event.seq >= lastSeq) break;
    }
  } finally {
    cancel();
  }
  if (readSeq >= lastSeq) return { promptRecorded };
  throw new FairleadError('store/lost-events', 'The store has lost the last events of this session.', {
    blame: 'store',
    retry: true,
  });
}

/** How long the next event of a log that was read before may take, in milliseconds. */
const maxReadWaitMs = 5000;

const maxRecordedRuns = 100;

/** The last runs whose prompts are in a log. The number of attempts alone does not show that a run was handled before: a crash of the store may have undone the claim. */
export const recordedRunsView: NamedView<readonly string[]> = {
  name: 'recorded-runs',
  initial: [],
  on: (runs, event) =>
    event.type === 'input-received' && (event.how === 'prompt' || event.how === 'continue')
      ? [...runs.slice(1 - maxRecordedRuns), event.input]
      : runs,
  serialize: (runs) => runs,
  restore: (stored) => (Array.isArray(stored) && stored.every((run) => typeof run === 'string') ? stored : undefined),
};

async function getRunOutcomeAt(log: Pick<Log, 'read'>, event: Event): Promise<RunOutcome> {
  const view = runStateView();
  let state = view.initial;
  for await (const events of log.read({ at: event.id, from: 'epoch' })) state = fold(view, events, state);
  return getRunOutcome(state);
}
