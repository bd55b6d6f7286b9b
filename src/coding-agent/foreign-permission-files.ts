// The files of `.claude` that may have permission rules.
import { existsSync } from 'node:fs';
import path from 'node:path';

/** A file with permission rules, its name for messages, and the folder to which its paths with one leading slash belong. */
export type PermissionFile = { readonly file: string; readonly name: string; readonly root: string };

/** Returns the files that exist, of the home folder and of a working folder. */
export function findPermissionFiles({
  cwd,
  home,
}: {
  readonly cwd: string;
  readonly home: string;
}): readonly PermissionFile[] {
  const own = { file: path.join(home, '.claude/settings.json'), name: '~/.claude/settings.json', root: '~/.claude/' };
  const ofProject = ['.claude/settings.json', '.claude/settings.local.json'].map((name) => ({
    file: path.join(cwd, name),
    name,
    root: '',
  }));
  return [own, ...ofProject].filter(({ file }) => existsSync(file));
}
