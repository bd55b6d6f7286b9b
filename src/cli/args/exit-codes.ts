// What the program's exit code says, one number for each way a run can come out.
import type { StopReason } from '../../core/index.ts';

/** The exit codes by what they mean. */
export const exitCodes = {
  answered: 0,
  failed: 1,
  misused: 2,
  turnLimit: 3,
  budget: 4,
  denied: 5,
  unverified: 6,
  unreachable: 7,
  left: 8,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** What each exit code means, for the help. */
export const exitCodeDescriptions: readonly (readonly [number, string])[] = [
  [exitCodes.answered, 'answered, or done'],
  [exitCodes.failed, 'something went wrong, or the run stopped without an answer'],
  [exitCodes.misused, 'the command line was not understood'],
  [exitCodes.turnLimit, 'the turn limit was reached'],
  [exitCodes.budget, 'a budget was used up: money, tokens, calls or time'],
  [exitCodes.denied, 'a person has to say yes first; resume the session to answer'],
  [exitCodes.unverified, 'there was an answer, but a check did not pass or the model abstained'],
  [exitCodes.unreachable, 'the provider could not be reached'],
  [exitCodes.left, 'runs are left in the queue that may not be begun now (worker --drain, factory)'],
  [exitCodes.hungUp, 'the terminal was closed (SIGHUP)'],
  [exitCodes.interrupted, 'interrupted (Ctrl+C)'],
  [exitCodes.terminated, 'told to end (SIGTERM)'],
];

const codeByStopReason: Readonly<Record<StopReason | 'waiting', number>> = {
  answered: exitCodes.answered,
  'task-complete': exitCodes.answered,
  'max-turns': exitCodes.turnLimit,
  'token-budget': exitCodes.budget,
  'money-budget': exitCodes.budget,
  'call-budget': exitCodes.budget,
  time: exitCodes.budget,
  waiting: exitCodes.denied,
  abstained: exitCodes.unverified,
  cancelled: exitCodes.interrupted,
  truncated: exitCodes.failed,
  'error-threshold': exitCodes.failed,
  stuck: exitCodes.failed,
  rule: exitCodes.failed,
  'kill-switch': exitCodes.failed,
  'provider-error': exitCodes.failed,
};

/** The exit code for a run that ended so, or that waits for a person. */
export const exitCodeForRun = (reason: StopReason | 'waiting', errorCode: string | undefined): number =>
  reason === 'provider-error' ? exitCodeForError(errorCode) : codeByStopReason[reason];

/** The exit code for an error: one that says that nobody answered has its own. */
export const exitCodeForError = (code: string | undefined): number =>
  code !== undefined && unreachableErrorCodes.has(code) ? exitCodes.unreachable : exitCodes.failed;

const unreachableErrorCodes = new Set([
  'provider/unreachable',
  'provider/timeout',
  'provider/circuit-open',
  'provider/proxy',
]);
