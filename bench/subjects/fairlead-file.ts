// Fairlead as it is built and shipped, each session an fsynced file.
import { createFairleadSubject } from '../fairlead.ts';

/** Measured with its sessions on disk. */
export const subject = (): ReturnType<typeof createFairleadSubject> => createFairleadSubject(true);
