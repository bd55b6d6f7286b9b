// An error as a person reads it.
import { FairleadError, formatError } from '../../core/index.ts';
import { exitCodeForError } from './exit-codes.ts';
import { printErr } from './stdio.ts';

/** The exit code of some work; an error of ours is one sentence on standard error. */
export async function exitCodeOf(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    printErr(`${formatError(error)}\n`);
    return exitCodeForError(error.code);
  }
}
