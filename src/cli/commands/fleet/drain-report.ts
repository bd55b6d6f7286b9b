// Reports which runs are left in the queue after a drain and why, as sentences and as an exit code.
import { type BlockedRuns, formatStoppedMessage } from '../../../fleet/index.ts';
import { exitCodes } from '../../args/exit-codes.ts';

const formatRunCount = (count: number, one: string, many: string): string =>
  count === 1 ? `1 run ${one}` : `${count} runs ${many}`;

/** Returns one sentence per kind of runs that are left. */
export function formatDrainReport({
  stopped,
  later,
  next,
  version,
  versions,
  approval,
}: BlockedRuns): readonly string[] {
  return [
    ...(stopped
      ? [
          `${formatRunCount(stopped.runs, 'is', 'are')} left, because ${toClause(formatStoppedMessage(stopped.why))}. To resume: fairlead fleet resume`,
        ]
      : []),
    ...(version > 0
      ? [
          `${formatRunCount(version, 'was', 'were')} started by version ${versions.join(', ')}: a worker of that version, or one with --any-version, continues ${version === 1 ? 'it' : 'them'}.`,
        ]
      : []),
    ...(later > 0 ? [`${formatRunCount(later, 'starts later, at', 'start later, the first at')} ${next}.`] : []),
    ...(approval > 0
      ? [
          `${formatRunCount(approval, 'waits', 'wait')} for approval. To see the questions: fairlead runs --status waiting`,
        ]
      : []),
  ];
}

const toClause = (sentence: string): string =>
  `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');

/** Returns the exit code for the runs that are left: 0 none, 5 only runs that wait for approval, 8 runs that cannot start now. */
export function drainExitCode({ stopped, later, version, approval }: BlockedRuns): number {
  if (stopped || later > 0 || version > 0) return exitCodes.runsLeft;
  return approval > 0 ? exitCodes.denied : exitCodes.answered;
}
