// Commands in a workspace without a sandbox.
import { createSandboxSubject } from '../tools.ts';

/** Commands in a workspace without a sandbox. */
export const subject = (): ReturnType<typeof createSandboxSubject> => createSandboxSubject('none');
