// Uses ripgrep to find candidate files for a search. It only names files: each is then read through the workspace and searched in JavaScript.
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Workspace } from '../core/index.ts';
import { toRipgrepPattern } from './regex-to-ripgrep.ts';
import { foldersOutsideWorkspace, isExecutable, leadsIntoWorkspace } from './safe-path.ts';

const ripgrepName = process.platform === 'win32' ? 'rg.exe' : 'rg';

/** Finds ripgrep: our own package, or the user's installation; never a program inside the workspace. */
export function findRipgrep(
  workspace: Workspace,
  search: string = process.env['PATH'] ?? '',
  packaged: readonly string[] = packagedRipgrepPaths(),
): string | undefined {
  const installed = foldersOutsideWorkspace(workspace, search).map((folder) => path.join(folder, ripgrepName));
  return [...packaged, ...installed].find(
    (each) =>
      isExecutable(each) && !leadsIntoWorkspace(workspace, each) && !leadsIntoWorkspace(workspace, path.dirname(each)),
  );
}

function packagedRipgrepPaths(): readonly string[] {
  try {
    const packaged = createRequire(import.meta.url).resolve('@vscode/ripgrep');
    const platform = `@vscode/ripgrep-${process.platform}-${process.arch}`;
    return [createRequire(packaged).resolve(`${platform}/bin/${ripgrepName}`)];
  } catch {
    return [];
  }
}

/** Returns the real folders of the packaged ripgrep; none if the package is not installed. */
export const packagedRipgrepFolders = (): readonly string[] =>
  packagedRipgrepPaths()
    .filter(isExecutable)
    .map((file) => path.dirname(realpathSync(file)));

/** A search that ripgrep runs. */
export type RipgrepSearch = {
  /** The folder. */
  readonly path: string;
  /** A valid JavaScript regular expression. */
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** A glob of file names, used only if it is simple. */
  readonly glob: string | undefined;
  /** Names of files and folders to skip. */
  readonly excludedNames: Iterable<string>;
  /** Max nesting depth of folders. */
  readonly maxDepth: number;
  /** Max bytes of a file. */
  readonly maxFileBytes: number;
  readonly signal: AbortSignal;
};

/** Reads no configuration file, starts no program, follows no link. */
const safeOptions = '--no-config --no-follow --no-pre --no-search-zip --no-messages --color=never --encoding=none';
/** Ignores exactly what our own walk ignores: the .gitignore files from the folder downwards. */
const ignoreOptions =
  '--hidden --no-require-git --no-ignore-parent --no-ignore-dot --no-ignore-global --no-ignore-exclude --no-ignore-files';
const listOptions = '--files-with-matches --null --path-separator=/';

/** All arguments are constant except the pattern and a simple glob, which cannot be parsed as options. */
function ripgrepArgs({
  pattern,
  ignoreCase,
  glob,
  excludedNames,
  maxDepth,
  maxFileBytes,
}: RipgrepSearch): readonly string[] {
  const typeFilter =
    glob !== undefined && /^\*[\w.-]*$/.test(glob) ? [`--type-add=sought:${glob}`, '--type=sought'] : [];
  return [
    ...[safeOptions, ignoreOptions, listOptions].flatMap((flags) => flags.split(' ')),
    `--max-depth=${maxDepth}`,
    `--max-filesize=${maxFileBytes}`,
    ...Array.from(excludedNames, (name) => `--glob=!${name}`),
    ...typeFilter,
    ignoreCase ? '--ignore-case' : '--case-sensitive',
    `--regexp=${toRipgrepPattern(pattern) ?? ''}`,
    '--',
    './',
  ];
}

/** Returns the files below a folder that may match, in walk order; undefined if the result of ripgrep is uncertain. */
export async function findCandidateFiles(
  workspace: Workspace,
  rg: string,
  search: RipgrepSearch,
): Promise<readonly string[] | undefined> {
  if (await hasDivergentIgnore(workspace, search.path)) return undefined;
  let stdout = '';
  const result = await workspace.exec([rg, ...ripgrepArgs(search)], {
    cwd: search.path,
    signal: search.signal,
    maxChars: 1,
    onOutput: (text) => (stdout += text),
  });
  search.signal.throwIfAborted();
  // An error message, of ripgrep or of its sandbox, does not end with the NUL that follows every name.
  const isFailed = result.code === null || result.code > (stdout === '' ? 1 : 2);
  if (isFailed || (stdout !== '' && !stdout.endsWith('\0'))) return undefined;
  const names = stdout.split('\0').slice(0, -1);
  return names.map((name) => name.replace(/^\.\//, '')).toSorted(compareWalkOrder);
}

/** .gitignore syntax that ripgrep interprets differently from git. */
const divergentIgnorePattern = /^!\s*$|\[[!^]|\/\/|\\\//m;

/** Returns true if the .gitignore of the folder itself uses such syntax. Deeper files are not checked: that would be the walk that ripgrep saves. */
async function hasDivergentIgnore(workspace: Workspace, folder: string): Promise<boolean> {
  const rules = await workspace.read(`${folder}/.gitignore`, { unseen: true }).catch(() => undefined);
  return divergentIgnorePattern.test(rules?.text ?? '');
}

/** Compares paths in walk order: folder by folder, names in order. */
function compareWalkOrder(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  const at = left.findIndex((name, i) => name !== right[i]);
  const [leftName = '', rightName = ''] = [left[at], right[at]];
  return leftName === rightName ? 0 : leftName < rightName ? -1 : 1;
}
