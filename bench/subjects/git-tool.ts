// The git tool without a sandbox.
import { createGitToolSubject } from '../git.ts';

/** The git tool without a sandbox. */
export const subject = (): ReturnType<typeof createGitToolSubject> => createGitToolSubject('none');
