// The bare system calls.
import { createBareSubject } from '../tools.ts';

/** The bare system calls. */
export const subject = (): ReturnType<typeof createBareSubject> => createBareSubject();
