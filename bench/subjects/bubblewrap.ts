// Commands in bubblewrap, without network.
import { createSandboxSubject } from '../tools.ts';

/** Commands in bubblewrap, without network. */
export const subject = (): ReturnType<typeof createSandboxSubject> => createSandboxSubject('bubblewrap');
