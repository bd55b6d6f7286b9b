// The reminder that this is the last turn, on the last turn and no other.
import type { Reminder } from '../core/index.ts';

/** Says on the real last turn of a run that it is the last. */
export const lastTurnReminder: Reminder = (turn, maxTurns) =>
  turn === maxTurns
    ? 'This is the last turn of this run. Give your complete answer now; no further tool results will be read.'
    : null;
