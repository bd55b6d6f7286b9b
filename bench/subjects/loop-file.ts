// Calls through the loop, its log in a file.
import { createLoopSubject } from '../tools.ts';

/** Calls through the loop, its log in a file. */
export const subject = (): ReturnType<typeof createLoopSubject> => createLoopSubject(true);
