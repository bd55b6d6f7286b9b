// Commands in bubblewrap, with the proxy to named hosts.
import { createSandboxSubject } from '../tools.ts';

/** Commands in bubblewrap, with the proxy to named hosts. */
export const subject = (): ReturnType<typeof createSandboxSubject> => createSandboxSubject('egress');
