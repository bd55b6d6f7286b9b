// Calls through the loop, its log in a file.
import { throughLoop } from '../tools.ts';

/** Calls through the loop, its log in a file. */
export const subject = (): ReturnType<typeof throughLoop> => throughLoop(true);
