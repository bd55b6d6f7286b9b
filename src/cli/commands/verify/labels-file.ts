// Reads a file of labelled answers, with a bound on its size.
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { FairleadError, errorMessage } from '../../../core/index.ts';

/** Max bytes of a file of labels. */
const maxLabelBytes = 256 * 1024 * 1024;

/** A text of labels and its sha256. */
export type LabelsFile = { readonly text: string; readonly hash: string };

/** Reads the one file that the arguments name. */
export function readLabelsFile(positionals: readonly string[], option?: string): LabelsFile {
  const [file, ...more] = option === undefined ? positionals : [option, ...positionals];
  if (file === undefined) throw new TypeError('A file with labelled answers is needed.');
  if (more.length > 0) throw new TypeError(`Only one file can be given; unexpected: ${more.join(' ')}.`);
  try {
    const { size } = statSync(file);
    if (size > maxLabelBytes) throw new Error(`it has more than ${maxLabelBytes / 1024 / 1024} MiB.`);
    const bytes = readFileSync(file);
    return { text: bytes.toString('utf8'), hash: createHash('sha256').update(bytes).digest('hex') };
  } catch (error) {
    throw new FairleadError('checks/no-labels', `The labels cannot be read: ${errorMessage(error)}`, { blame: 'user' });
  }
}
