// Calls through the loop, its log in memory.
import { throughLoop } from '../tools.ts';

/** Calls through the loop, its log in memory. */
export const subject = (): ReturnType<typeof throughLoop> => throughLoop(false);
