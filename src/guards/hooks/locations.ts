// Finds the files that may define hooks. It has no heavy imports, because most folders have no hooks.
import { statSync } from 'node:fs';
import path from 'node:path';

/** A file that may define hooks. */
export type HookFile = {
  readonly path: string;
  /** True for the user's own file, which needs no approval. */
  readonly isUserOwned: boolean;
};

/** Returns the hook files that exist: Fairlead's own first, then the settings files of other programs. */
export function findHookFiles(dirs: {
  readonly cwd: string;
  readonly home: string;
  readonly configDir: string;
}): readonly HookFile[] {
  const { cwd, home, configDir } = dirs;
  const project = ['.fairlead/hooks.json', '.claude/settings.json', '.claude/settings.local.json'];
  const others = [path.join(home, '.claude/settings.json'), ...project.map((each) => path.join(cwd, each))];
  const candidates = [path.join(configDir, 'hooks.json'), ...new Set(others)];
  return candidates.filter(pathExists).map((file) => ({ path: file, isUserOwned: file === candidates[0] }));
}

/** A file that cannot be accessed counts as existing. The reader then reports the error. */
function pathExists(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
