// Commands in a container of podman.
import { confined } from '../tools.ts';

/** Commands in a container of podman. */
export const subject = (): ReturnType<typeof confined> => confined('podman');
