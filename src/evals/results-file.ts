// The file in which an evaluation keeps its results until it has ended: named by the user, or one in the state directory.
import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { FairleadError } from '../core/index.ts';
import { makePrivateDir } from '../stores/index.ts';

/** A results file; a temporary one is removed when the evaluation has ended. */
export type ResultsFile = { readonly file: string; readonly isTemporary: boolean };

/** Days that the results of an evaluation that was not finished are kept. */
const keptDays = 30;

/** Returns the results file of an evaluation. `resume`: the latest one that was not finished; throws if there is none. */
export function findResultsFile(
  state: string,
  evaluation: string,
  { results, resume = false }: { readonly results?: string | undefined; readonly resume?: boolean | undefined },
): ResultsFile {
  if (results !== undefined) {
    if (resume && !statSync(results, { throwIfNoEntry: false })?.isFile()) throw nothingToResume();
    makePrivateDir(path.dirname(path.resolve(results)));
    return { file: path.resolve(results), isTemporary: false };
  }
  const folder = path.join(state, 'evals');
  makePrivateDir(folder);
  removeOld(folder);
  const prefix = `${evaluation}-`;
  if (!resume) return { file: path.join(folder, `${prefix}${Date.now()}-${process.pid}.sqlite`), isTemporary: true };
  const latest = readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.sqlite'))
    .toSorted()
    .at(-1);
  if (latest === undefined) throw nothingToResume();
  return { file: path.join(folder, latest), isTemporary: true };
}

const nothingToResume = (): FairleadError =>
  new FairleadError('eval/nothing-to-resume', 'There is no unfinished evaluation of these cases with this model.', {
    blame: 'user',
    hint: 'Start it without --resume. The cases, the model and the judges must be the same.',
  });

function removeOld(folder: string): void {
  const before = Date.now() - keptDays * 86_400_000;
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    if (changed !== undefined && changed < before) rmSync(file, { force: true });
  }
}
