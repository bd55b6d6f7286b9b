// Reads the configuration of a git directory that a command may have written: whether it could run programs, and where a `.git` file leads.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { listNames, readSmallFile } from './open-folder.ts';

const maxConfigBytes = 65_536;
/** Sections and keys of a configuration as `git init`, `git clone` and a user who commits write it: none of these runs a program. */
const harmlessSections = new Set(['core', 'user', 'init', 'pull', 'push', 'advice']);
const harmlessKeys = new Set([
  'repositoryformatversion',
  'filemode',
  'bare',
  'ignorecase',
  'precomposeunicode',
  'symlinks',
  'logallrefupdates',
  'autocrlf',
  'eol',
  'url',
  'fetch',
  'mirror',
  'merge',
  'rebase',
  'remote',
  'name',
  'email',
  'defaultbranch',
  'description',
  'vscode-merge-base',
  'gh-merge-base',
]);
const maxConfigLine = 1000;

/** Returns true if a line of a git configuration runs no program and names no other configuration. Each step takes linear time: the text comes from outside. */
export function isHarmlessConfigLine(given: string): boolean {
  if (given.length > maxConfigLine) return false;
  const line = given.trim().toLowerCase();
  if (line === '') return true;
  if (line.startsWith('['))
    return harmlessSections.has(line.slice(1, -1))
      ? line.endsWith(']')
      : /^\[(?:remote|branch) "[\w./-]+"\]$/.test(line);
  const equals = line.indexOf('=');
  return equals > 0 && harmlessKeys.has(line.slice(0, equals).trimEnd()) && !/["\\]/.test(line.slice(equals));
}

/** Returns true if a git directory is as `git init` or `git clone` creates it: it names no program and no other configuration. */
export function isHarmlessGitDirectory(folder: string): boolean {
  try {
    const at = (name: string): string => path.join(folder, name);
    if (['commondir', 'config.worktree', 'modules'].some((name) => existsSync(at(name)))) return false;
    if (existsSync(at('info/attributes'))) return false;
    if (listNames(at('hooks')).some((name) => !name.endsWith('.sample'))) return false;
    return readSmallFile(at('config'), maxConfigBytes)?.split('\n').every(isHarmlessConfigLine) ?? false;
  } catch {
    return false;
  }
}

/** Returns the git directory that a `.git` file names; undefined if the file names none. */
export function readPointer(file: string): string | undefined {
  const [, named] = /^gitdir: *(\S.*)$/.exec(readPointerText(file) ?? '') ?? [];
  return named === undefined ? undefined : path.resolve(path.dirname(file), named);
}

const maxPointerBytes = 4096;

/** Returns the text of a file that names a folder, without the end of its last line; undefined if there is none. */
export const readPointerText = (file: string): string | undefined => readSmallFile(file, maxPointerBytes)?.trimEnd();
