// The approval loop: advances a session, asks the handler about each pending tool call, records the decisions and continues.
import { pendingApprovals, type RunState, type StopReason, type ApprovalHandler } from '../core/index.ts';
import type { AdvanceOptions } from './run-options.ts';
import type { UserInput } from './session-facts.ts';
import type { Session } from './session.ts';

/** The options of a run with approvals. */
export type ApprovalLoopOptions = AdvanceOptions & { readonly onApproval?: ApprovalHandler | undefined };

/** Reasons after which another run reads input that came too late. After any other reason it would end in the same way. */
const completedReasons: ReadonlySet<StopReason> = new Set(['answered', 'task-complete', 'abstained', 'truncated']);

/** Whether input arrived after the run had ended, so that another run must read it. */
export const hasUnreadInput = ({ pending, ended }: RunState): boolean =>
  pending.length > 0 && ended !== undefined && completedReasons.has(ended.reason);

/** Advances a session until it has an answer, or until every pending call was left undecided. The one approval loop. */
export async function runWithApprovals(
  session: Session,
  input: UserInput | undefined,
  { onApproval, ...options }: ApprovalLoopOptions,
): Promise<RunState> {
  const { runId: _runId, inputId: _inputId, ...rest } = options;
  const signal = options.signal ?? new AbortController().signal;
  /** Calls that the handler left undecided: it is not asked about them again in this run. */
  const undecided = new Set<string>();
  let state = await session.advance(input, options);
  for (;;) {
    if (options.detachSignal?.aborted) return state;
    // An interrupted wait is recorded as a cancelled run.
    if (signal.aborted) return state.run === undefined ? state : session.advance(undefined, rest);
    if (state.run === undefined) {
      if (!hasUnreadInput(state)) return state;
    } else if (!(await decideNext(session, onApproval, undecided, signal))) {
      if (!signal.aborted) return session.state;
    }
    state = await session.advance(undefined, rest);
  }
}

/** Asks about the first undecided call and records the decision. Returns false if there is none to continue with. */
async function decideNext(
  session: Session,
  onApproval: ApprovalHandler | undefined,
  undecided: Set<string>,
  signal: AbortSignal,
): Promise<boolean> {
  if (!onApproval) return false;
  for (const request of pendingApprovals(session.state)) {
    if (request.kind === 'client-tool' || undecided.has(request.id)) continue;
    const decision = await onApproval(request, signal);
    if (signal.aborted) return false;
    if (decision === undefined) {
      undecided.add(request.id);
      continue;
    }
    const { approved, ...details } = typeof decision === 'boolean' ? { approved: decision } : decision;
    await session.resolveApproval(request.id, approved, { by: 'user', ...details });
    return true;
  }
  return false;
}
