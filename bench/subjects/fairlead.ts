// Fairlead as it is built and shipped, sessions kept in memory.
import { fairlead } from '../fairlead.ts';

/** Measured with its sessions in memory. */
export const subject = (): ReturnType<typeof fairlead> => fairlead(false);
