// Git as a user runs it.
import { createPlainGitSubject } from '../git.ts';

/** Git as a user runs it. */
export const subject = (): ReturnType<typeof createPlainGitSubject> => createPlainGitSubject();
