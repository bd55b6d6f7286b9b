// What is said where an id on the command line stands for another run already.
import { FairleadError } from '../../../core/index.ts';
import type { RunDifference } from '../../../fleet/enqueue-once.ts';

/** Says what the id stands for. */
export const runIdConflictError = (id: string, [name, is]: RunDifference): FairleadError =>
  new FairleadError(
    'cli/other-task',
    `${id} is another run already: its ${name} ${name.endsWith('s') ? 'are' : 'is'} ${is}.`,
    { blame: 'user', hint: 'Give the same words and settings, or another --id.' },
  );
