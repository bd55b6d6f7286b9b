// The approval loop: advances a session, asks the handler about each pending tool call, records the decisions and continues.
import { pendingApprovals, type RunState, type StopReason, type ApprovalHandler } from '../core/index.ts';
import type { AdvanceOptions } from './run-options.ts';
import type { UserInput } from './session-facts.ts';
import type { Session } from './session.ts';

/** The options of a run with approvals. */
export type ApprovalLoopOptions = AdvanceOptions & {
  readonly onApproval?: ApprovalHandler | undefined;
  /** Ends the wait for approvals: the run stays open with its pending calls. An active step continues. */
  readonly waitSignal?: AbortSignal;
  /** Called after each step: records input and decisions that are on their way to the session. */
  readonly beforeDecision?: () => Promise<unknown>;
  /** Replaces `session.advance`, such as to select a model before each step. */
  readonly advance?: Session['advance'];
};

/** Reasons after which another run reads input that came too late. After any other reason it would end in the same way. */
const completedReasons: ReadonlySet<StopReason> = new Set(['answered', 'task-complete', 'abstained', 'truncated']);

/** Whether input arrived after the run had ended, so that another run must read it. */
export const hasUnreadInput = ({ pending, ended }: RunState): boolean =>
  pending.length > 0 && ended !== undefined && completedReasons.has(ended.reason);

/** Whether a run waits for a decision about a call. */
export const isAwaitingApproval = (state: RunState): boolean =>
  state.run !== undefined && pendingApprovals(state).length > 0;

/** Advances a session until it has an answer, or until every pending call was left undecided. The one approval loop. */
export async function runWithApprovals(
  session: Session,
  input: UserInput | undefined,
  options: ApprovalLoopOptions,
): Promise<RunState> {
  const { onApproval: _ask, waitSignal: _wait, beforeDecision: _before, advance, ...rest } = options;
  return continueWithApprovals(session, await (advance ?? advanceOf(session))(input, rest), options);
}

/** The approval loop from the state that the last step returned. */
export async function continueWithApprovals(
  session: Session,
  state: RunState,
  options: ApprovalLoopOptions,
): Promise<RunState> {
  const { onApproval, waitSignal, beforeDecision, advance = advanceOf(session), ...step } = options;
  const { runId: _runId, inputId: _inputId, trace: _trace, ...rest } = step;
  const signal = options.signal ?? new AbortController().signal;
  const askSignal = waitSignal ? AbortSignal.any([signal, waitSignal]) : signal;
  /** Calls that the handler left undecided: it is not asked about them again in this run. */
  const undecided = new Set<string>();
  for (let last = state; ; last = await advance(undefined, rest)) {
    await beforeDecision?.();
    if (onApproval && isAwaitingApproval(session.state) && !askSignal.aborted && !options.detachSignal?.aborted)
      await decidePending(session, onApproval, undecided, askSignal);
    const current = session.state;
    if (options.detachSignal?.aborted || waitSignal?.aborted) return current;
    // An interrupted wait is recorded as a cancelled run.
    if (signal.aborted) return current.run === undefined ? current : advance(undefined, rest);
    const canContinue = current.run === undefined ? hasUnreadInput(current) : hasNewDecision(last, current);
    if (!canContinue) return current;
  }
}

const advanceOf =
  (session: Session): Session['advance'] =>
  (input, options) =>
    session.advance(input, options);

/** Whether a call that was pending after the last step has a decision now. */
const hasNewDecision = (last: RunState, current: RunState): boolean => {
  const pending = new Set(pendingApprovals(current).map(({ id }) => id));
  return pendingApprovals(last).some(({ id }) => !pending.has(id));
};

/** Asks about each pending call and records the decisions, until the signal aborts. */
async function decidePending(
  session: Session,
  onApproval: ApprovalHandler,
  undecided: Set<string>,
  signal: AbortSignal,
): Promise<void> {
  for (const request of pendingApprovals(session.state)) {
    if (request.kind === 'client-tool' || undecided.has(request.id)) continue;
    const decision = await onApproval(request, signal);
    if (signal.aborted) return;
    if (decision === undefined) {
      undecided.add(request.id);
      continue;
    }
    const { approved, ...details } = typeof decision === 'boolean' ? { approved: decision } : decision;
    await session.resolveApproval(request.id, approved, { by: 'user', ...details });
  }
}
