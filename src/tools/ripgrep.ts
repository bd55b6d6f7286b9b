// Ripgrep as a fast guess at which files a search is about. It only ever names files: each is then read through the workspace and searched by ourselves.
import { accessSync, constants, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Workspace } from '../core/index.ts';
import { toRipgrepPattern } from './regex-to-ripgrep.ts';
import { foldersOutsideWorkspace, leadsIntoWorkspace } from './safe-path.ts';

const ripgrepName = process.platform === 'win32' ? 'rg.exe' : 'rg';

/** The ripgrep to use: the package beside ours, or the person's own; never one that the folder being worked in could have brought along. */
export function findRipgrep(
  workspace: Workspace,
  search: string = process.env['PATH'] ?? '',
  beside: readonly string[] = packagedRipgrepPaths(),
): string | undefined {
  const own = foldersOutsideWorkspace(workspace, search).map((folder) => path.join(folder, ripgrepName));
  return [...beside, ...own].find(
    (each) =>
      isExecutable(each) && !leadsIntoWorkspace(workspace, each) && !leadsIntoWorkspace(workspace, path.dirname(each)),
  );
}

function packagedRipgrepPaths(): readonly string[] {
  try {
    const beside = createRequire(import.meta.url).resolve('@vscode/ripgrep');
    const platform = `@vscode/ripgrep-${process.platform}-${process.arch}`;
    return [createRequire(beside).resolve(`${platform}/bin/${ripgrepName}`)];
  } catch {
    return [];
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** What is looked for. */
export type RipgrepSearch = {
  /** The folder. */
  readonly path: string;
  /** A valid JavaScript pattern. */
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** A glob for the names of files, used only where it is a plain one. */
  readonly glob: string | undefined;
  /** Names of files and folders that are passed over. */
  readonly excludedNames: Iterable<string>;
  /** Folders that are gone into, one inside the other. */
  readonly maxDepth: number;
  /** Bytes of the largest file. */
  readonly maxFileBytes: number;
  readonly signal: AbortSignal;
};

/** No settings file is read, no program started, no link followed. */
const safeOptions = '--no-config --no-follow --no-pre --no-search-zip --no-messages --color=never --encoding=none';
/** What a walk of ours leaves out, and nothing else: the .gitignore files from the folder downwards. */
const ignoreOptions =
  '--hidden --no-require-git --no-ignore-parent --no-ignore-dot --no-ignore-global --no-ignore-exclude --no-ignore-files';
const listOptions = '--files-with-matches --null --path-separator=/';

/** Every argument is ours but the pattern and a plain glob, which stand where no option can. */
function ripgrepArgs({
  pattern,
  ignoreCase,
  glob,
  excludedNames,
  maxDepth,
  maxFileBytes,
}: RipgrepSearch): readonly string[] {
  const plain = glob !== undefined && /^\*[\w.-]*$/.test(glob) ? [`--type-add=sought:${glob}`, '--type=sought'] : [];
  return [
    ...[safeOptions, ignoreOptions, listOptions].flatMap((flags) => flags.split(' ')),
    `--max-depth=${maxDepth}`,
    `--max-filesize=${maxFileBytes}`,
    ...Array.from(excludedNames, (name) => `--glob=!${name}`),
    ...plain,
    ignoreCase ? '--ignore-case' : '--case-sensitive',
    `--regexp=${toRipgrepPattern(pattern) ?? ''}`,
    '--',
    './',
  ];
}

/** The files below a folder that may hold a match, in the order of a walk; nothing where ripgrep cannot tell. */
export async function findCandidateFiles(
  workspace: Workspace,
  rg: string,
  sought: RipgrepSearch,
): Promise<readonly string[] | undefined> {
  if (await hasDivergentIgnore(workspace, sought.path)) return undefined;
  let said = '';
  const ran = await workspace.exec([rg, ...ripgrepArgs(sought)], {
    cwd: sought.path,
    signal: sought.signal,
    maxChars: 1,
    onOutput: (text) => (said += text),
  });
  sought.signal.throwIfAborted();
  // Whatever complains, ripgrep or what it runs in, ends without the mark that follows every name.
  const doubtful = ran.code === null || ran.code > (said === '' ? 1 : 2);
  if (doubtful || (said !== '' && !said.endsWith('\0'))) return undefined;
  const names = said.split('\0').slice(0, -1);
  return names.map((name) => name.replace(/^\.\//, '')).toSorted(compareWalkOrder);
}

/** Spellings in a .gitignore that ripgrep understands otherwise than git: it would leave out what is not left out, or the other way round. */
const divergentIgnorePattern = /^!\s*$|\[[!^]|\/\/|\\\//m;

/** Whether the folder's own rules hold one of them; further down there are hardly ever any, and to look would be the walk that is to be saved. */
async function hasDivergentIgnore(workspace: Workspace, folder: string): Promise<boolean> {
  const rules = await workspace.read(`${folder}/.gitignore`, { unseen: true }).catch(() => undefined);
  return divergentIgnorePattern.test(rules?.text ?? '');
}

/** Folder by folder, names of each in order. */
function compareWalkOrder(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  const at = left.findIndex((name, i) => name !== right[i]);
  const [one = '', other = ''] = [left[at], right[at]];
  return one === other ? 0 : one < other ? -1 : 1;
}
