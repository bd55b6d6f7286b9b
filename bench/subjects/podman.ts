// Commands in a container of podman.
import { createSandboxSubject } from '../tools.ts';

/** Commands in a container of podman. */
export const subject = (): ReturnType<typeof createSandboxSubject> => createSandboxSubject('podman');
