// Fairlead as it is built and shipped, sessions kept in memory.
import { createFairleadSubject } from '../fairlead.ts';

/** Measured with its sessions in memory. */
export const subject = (): ReturnType<typeof createFairleadSubject> => createFairleadSubject(false);
