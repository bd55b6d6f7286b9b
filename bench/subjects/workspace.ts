// Commands in a workspace without a sandbox.
import { confined } from '../tools.ts';

/** Commands in a workspace without a sandbox. */
export const subject = (): ReturnType<typeof confined> => confined('none');
