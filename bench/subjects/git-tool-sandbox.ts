// The git tool in bubblewrap.
import { createGitToolSubject } from '../git.ts';

/** The git tool in bubblewrap. */
export const subject = (): ReturnType<typeof createGitToolSubject> => createGitToolSubject('bubblewrap');
