// Work on patterns that a model or a stranger's repository wrote, with an end: only the engine's own watchdog can stop a runaway expression.
import { createContext, Script } from 'node:vm';
import { isObject } from '../core/index.ts';

const longestMs = 500;

const room = createContext({ work: undefined as unknown });
const step = new Script('work()');

/** Whether this work was done in time; where it was not, it was given up half-way. */
export function doneInTime(work: () => void): boolean {
  room['work'] = work;
  try {
    step.runInContext(room, { timeout: longestMs });
    return true;
  } catch (error) {
    // The engine throws this one from within the other context, so it is no Error of ours.
    if (isObject(error) && error['code'] === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
}
