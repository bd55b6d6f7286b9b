// Labels for stop reasons, run statuses, run kinds and branch reasons.
import type { EpochReason, FleetRun, StopReason } from '../../../src/core/index.ts';

const stopReasonLabels: Readonly<Record<StopReason, string>> = {
  answered: 'answered',
  'task-complete': 'done',
  abstained: 'abstained',
  truncated: 'answer truncated',
  'max-turns': 'out of turns',
  'token-budget': 'out of tokens',
  'money-budget': 'out of money',
  'call-budget': 'out of tool calls',
  time: 'out of time',
  'error-threshold': 'too many errors',
  stuck: 'stuck',
  rule: 'stopped by a rule',
  'kill-switch': 'stopped by the kill switch',
  cancelled: 'cancelled',
  'provider-error': 'model failed',
};

/** Why a run ended; a reason that this page does not know is shown as it is. */
export const formatStopReason = (reason: string): string => stopReasonLabels[reason as StopReason] ?? reason;

/** The label of a run status; a waiting run waits for approval or for its child runs. */
export function formatRunStatus({ status, outcome, pendingApprovals: questions }: FleetRun): string {
  if (status === 'ended') return outcome ? formatStopReason(outcome.reason) : 'ended';
  if (status === 'waiting') return questions.length > 0 ? 'waits for approval' : 'waits for child runs';
  return status;
}

const runKindLabels: Readonly<Record<string, string>> = { run: 'run', plan: 'orchestration', verify: 'verification' };

/** The label of a run kind. */
export const formatRunKind = (kind: string): string => runKindLabels[kind] ?? kind;

const epochReasonLabels: Readonly<Record<EpochReason, string>> = {
  started: 'Started',
  compacted: 'The conversation was compacted to fit the model',
  'model-changed': 'The model was changed',
  'agent-changed': 'The instructions or tools were changed',
  edited: 'Edited: the session continues from the messages shown',
};

/** The label of an epoch reason. */
export const formatEpochReason = (reason: string): string => epochReasonLabels[reason as EpochReason] ?? reason;

const branchReasonLabels: Readonly<Record<string, string>> = {
  edited: 'The session was edited; the previous messages are kept',
  forked: 'Forked here',
  rewound: 'Rewound to here; later messages are kept',
  returned: 'Returned to an earlier branch',
};

/** The label of a branch reason. */
export const formatBranchReason = (reason: string): string => branchReasonLabels[reason] ?? reason;

/** Truncates a text to a max length without splitting a surrogate pair. */
export const truncate = (text: string, max: number): string => text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');

/** Returns a heading: the first line of a prompt, truncated. */
export function formatHeading(words: string): string {
  const line = words.trim().split('\n', 1)[0] ?? '';
  return line.length > 90 ? `${truncate(line, 88).trimEnd()}…` : line;
}
