// Calls through the loop, its log in memory.
import { createLoopSubject } from '../tools.ts';

/** Calls through the loop, its log in memory. */
export const subject = (): ReturnType<typeof createLoopSubject> => createLoopSubject(false);
