// The bare system calls.
import { bare } from '../tools.ts';

/** The bare system calls. */
export const subject = (): ReturnType<typeof bare> => bare();
