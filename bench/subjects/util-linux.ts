// Commands in the sandbox of util-linux programs, without network.
import { createSandboxSubject } from '../tools.ts';

/** Commands in the sandbox of util-linux programs, without network. */
export const subject = (): ReturnType<typeof createSandboxSubject> => createSandboxSubject('util-linux');
