// What is left in the queue of a fleet, in words and as an exit code: whoever drains it does not wait for what cannot go on.
import type { BlockedRuns } from '../../../fleet/blocked-runs.ts';
import { formatStoppedMessage } from '../../../fleet/kill-switch.ts';
import { exitCodes } from '../../args/exit-codes.ts';

const formatRunCount = (count: number, one: string, many: string): string =>
  count === 1 ? `1 run ${one}` : `${count} runs ${many}`;

/** What is left, a sentence each; none where nothing is. */
export function formatDrainReport({ stopped, later, next, version, versions, person }: BlockedRuns): readonly string[] {
  return [
    ...(stopped
      ? [
          `${formatRunCount(stopped.runs, 'is', 'are')} left, for ${toClause(formatStoppedMessage(stopped.why))}. To let it go on: fairlead fleet resume`,
        ]
      : []),
    ...(version > 0
      ? [
          `${formatRunCount(version, 'was', 'were')} begun by version ${versions.join(', ')}: a worker of it, or one with --any-version, goes on with ${version === 1 ? 'it' : 'them'}.`,
        ]
      : []),
    ...(later > 0 ? [`${formatRunCount(later, 'begins later, at', 'begin later, the first at')} ${next}.`] : []),
    ...(person > 0
      ? [`${formatRunCount(person, 'waits', 'wait')} for a person. What is asked: fairlead runs --status waiting`]
      : []),
  ];
}

const toClause = (sentence: string): string =>
  `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');

/** The exit code of whoever leaves this: 0 nothing, 5 only what waits for a person, 8 what may not be begun now. */
export function drainExitCode({ stopped, later, version, person }: BlockedRuns): number {
  if (stopped || later > 0 || version > 0) return exitCodes.runsLeft;
  return person > 0 ? exitCodes.denied : exitCodes.answered;
}
