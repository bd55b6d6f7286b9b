// Warns that a session file is not as the program wrote it, for commands that show what it contains.
import { errorMessage, escapeInvisibleLine } from '../../core/index.ts';
import { verifyFile } from '../../stores/index.ts';
import { printErr } from '../args/stdio.ts';

/** Prints the first problem of the hash chain of a session file, and how many more there are. The command continues: a part of a log is better than none. */
export async function warnOfDamage(file: string): Promise<void> {
  const problems = await verifyFile(file).then(
    (verified) => verified.problems.map(({ message }) => message),
    (error: unknown) => [errorMessage(error)],
  );
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length > 1 ? ` There are ${problems.length - 1} more problems: fairlead sessions verify.` : '';
  printErr(`The session is damaged: ${escapeInvisibleLine(first)}${more}\n`);
}
