// Commands in bubblewrap, without network.
import { confined } from '../tools.ts';

/** Commands in bubblewrap, without network. */
export const subject = (): ReturnType<typeof confined> => confined('bubblewrap');
