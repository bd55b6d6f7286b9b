// Finds the files of the user's own git configuration: the global file and what it includes.
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';

const maxFiles = 20;
const maxFileBytes = 1_000_000;

/** Where the user keeps files, and what a command can write. */
export type UserLocation = {
  readonly home: string;
  readonly roots: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
};

/** Returns the global configuration files of the user and the files that they include; real paths that no command can write. */
export function findUserGitFiles({ home, roots, env = process.env }: UserLocation): readonly string[] {
  const { GIT_CONFIG_GLOBAL: chosen, XDG_CONFIG_HOME: configHome } = env;
  const pending = chosen
    ? [chosen]
    : [path.join(configHome || path.join(home, '.config'), 'git/config'), path.join(home, '.gitconfig')];
  const found: string[] = [];
  for (let file = pending.shift(); file !== undefined && found.length < maxFiles; file = pending.shift()) {
    const content = readPlainFile(file, roots);
    if (content === undefined || found.includes(file)) continue;
    found.push(file);
    pending.push(...includedFiles(content, path.dirname(file), home));
  }
  return found;
}

function readPlainFile(file: string, roots: readonly string[]): string | undefined {
  try {
    if (!path.isAbsolute(file) || !existsSync(file)) return undefined;
    const real = realpathSync(file);
    const { size } = lstatSync(real);
    const isWritable = roots.some((root) => isPathInside(root, real) || isPathInside(root, file));
    return isWritable || !lstatSync(real).isFile() || size > maxFileBytes ? undefined : readFileSync(real, 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns the values of `path` in this file: git uses that name only to include another file. */
const includedFiles = (content: string, folder: string, home: string): readonly string[] =>
  [...content.matchAll(/^[ \t]*(?:\[include[^\n]*\][ \t]*)?path[ \t]*=[ \t]*"?([^"\n#;]+)/gim)].map(
    ([, value = '']) => {
      const name = value.trim();
      return name.startsWith('~/') ? path.join(home, name.slice(2)) : path.resolve(folder, name);
    },
  );
