// Commands in bubblewrap, with the proxy to named hosts.
import { confined } from '../tools.ts';

/** Commands in bubblewrap, with the proxy to named hosts. */
export const subject = (): ReturnType<typeof confined> => confined('egress');
