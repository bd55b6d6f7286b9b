// How a command with options of its own ends when it cannot do its work: a sentence, and how it is used where it was misused.
import { FairleadError } from '../../core/index.ts';
import { tell } from './print.ts';
import { sentence } from './sentence.ts';

/** Does a command's work and gives its exit code: 1 for an error of ours, 2 for options that it does not take. */
export async function orUsage(usage: string, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TypeError) {
      tell(`${error.message.split('\n')[0]}\n${usage}\n`);
      return 2;
    }
    if (!(error instanceof FairleadError)) throw error;
    tell(`${sentence(error)}\n`);
    return 1;
  }
}
