// Exit codes of the program, and which run result or error gives which code.
import type { StopReason } from '../../core/index.ts';

/** The exit codes by meaning. */
export const exitCodes = {
  answered: 0,
  failed: 1,
  misused: 2,
  turnLimit: 3,
  budget: 4,
  denied: 5,
  unverified: 6,
  unreachable: 7,
  runsLeft: 8,
  blocked: 9,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;

/** The meaning of each exit code, for the help. */
export const exitCodeDescriptions: readonly (readonly [number, string])[] = [
  [exitCodes.answered, 'success'],
  [exitCodes.failed, 'an error, or the run stopped without an answer'],
  [exitCodes.misused, 'invalid command line, or no model is configured'],
  [exitCodes.turnLimit, 'the turn limit was reached'],
  [exitCodes.budget, 'a budget was used up: money, tokens, calls or time'],
  [exitCodes.denied, 'an approval is needed; resume the session to answer'],
  [exitCodes.unverified, 'there was an answer, but a check did not pass or the model abstained'],
  [exitCodes.unreachable, 'the provider could not be reached'],
  [exitCodes.runsLeft, 'runs are left in the queue that cannot start now (worker --drain, factory)'],
  [exitCodes.blocked, 'a server or worker did not answer and was ended by its watchdog (serve, worker)'],
  [exitCodes.hangup, 'the terminal was closed (SIGHUP)'],
  [exitCodes.interrupted, 'interrupted (Ctrl+C)'],
  [exitCodes.terminated, 'terminated (SIGTERM)'],
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

/** Returns the exit code for a run that ended with this reason, or that waits for approval. */
export const exitCodeForRun = (reason: StopReason | 'waiting', errorCode: string | undefined): number =>
  reason === 'provider-error' ? exitCodeForError(errorCode) : codeByStopReason[reason];

/** Returns the exit code for an error code; errors of an unreachable provider have their own. */
export const exitCodeForError = (code: string | undefined): number =>
  code === undefined
    ? exitCodes.failed
    : unreachableErrorCodes.has(code)
      ? exitCodes.unreachable
      : code === 'coding-agent/no-model'
        ? exitCodes.misused
        : exitCodes.failed;

const unreachableErrorCodes = new Set([
  'provider/unreachable',
  'provider/timeout',
  'provider/circuit-open',
  'provider/proxy',
]);
