// Words that came in too late for the run they were meant for.
import type { RunState, StopReason } from '../core/index.ts';

/** Ends after which another run reads what waits. After any other it would end in the same way again, and so would the one after it. */
const completedReasons: ReadonlySet<StopReason> = new Set(['answered', 'task-complete', 'abstained', 'truncated']);

/** Whether words came in too late for the run that has ended: another one is to read them. */
export const hasUnreadInput = ({ pending, ended }: RunState): boolean =>
  pending.length > 0 && ended !== undefined && completedReasons.has(ended.reason);
