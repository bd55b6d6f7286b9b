// Where hooks are looked for. It imports nothing heavy: most folders have none.
import { statSync } from 'node:fs';
import path from 'node:path';

/** A file that may hold hooks. */
export type HookFile = {
  readonly path: string;
  /** The person's own: it needs no approval. */
  readonly isUserOwned: boolean;
};

/** The files that are there: ours first, then those that another program's settings hold. */
export function findHookFiles(places: {
  readonly cwd: string;
  readonly home: string;
  readonly configDir: string;
}): readonly HookFile[] {
  const { cwd, home, configDir } = places;
  const project = ['.fairlead/hooks.json', '.claude/settings.json', '.claude/settings.local.json'];
  const others = [path.join(home, '.claude/settings.json'), ...project.map((each) => path.join(cwd, each))];
  const all = [path.join(configDir, 'hooks.json'), ...new Set(others)];
  return all.filter(pathExists).map((file) => ({ path: file, isUserOwned: file === all[0] }));
}

/** What may not be looked at is there: whoever reads it says what is wrong. */
function pathExists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
