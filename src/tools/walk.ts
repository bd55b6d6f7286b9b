// Walks all files below a folder: follows no links, and skips what .gitignore ignores.
import { FairleadError, type Workspace } from '../core/index.ts';
import { parseIgnoreFile, type IgnoreMatcher } from './ignore.ts';

/** Names that searches always skip. */
export const skippedNames: ReadonlySet<string> = new Set(['.git', 'node_modules', '.hg', '.svn']);
const maxFiles = 200_000;
/** Max nesting depth of folders. */
export const maxWalkDepth = 100;

type IgnoreRule = { readonly base: string; readonly ignore: IgnoreMatcher };

/** The notice if a walk was not complete. */
export const incompleteWalkNotice =
  '[Not everything was searched: there are more than 200,000 files, or a folder contains more than 10,000 names.]';

/** Yields the files below a folder in name order, as relative paths. `cut` is called if there are too many. Unreadable folders are skipped. */
export async function* walkFiles(
  workspace: Workspace,
  from: string,
  signal: AbortSignal,
  cut: () => void = () => {},
): AsyncGenerator<string> {
  let room = maxFiles;
  yield* visit('', [], 0);

  async function* visit(folder: string, above: readonly IgnoreRule[], depth: number): AsyncGenerator<string> {
    signal.throwIfAborted();
    const listed = await entriesOf(folder);
    if (!listed) return;
    const own = listed.some((each) => each.name === '.gitignore' && each.type !== 'folder')
      ? await rulesOf(folder)
      : undefined;
    const rules = own ? [...above, { base: folder, ignore: own }] : above;
    for (const { name, type } of listed) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (skippedNames.has(name) || isIgnored(path, type === 'folder', rules)) continue;
      if (type === 'folder' && depth < maxWalkDepth) yield* visit(path, rules, depth + 1);
      else if (type === 'file') {
        if (room-- <= 0) return cut();
        yield path;
      }
    }
  }

  async function entriesOf(folder: string) {
    try {
      const { entries, more } = await workspace.list(under(folder));
      if (more) cut();
      return entries;
    } catch (error) {
      // The requested folder must exist; one below it may be unreadable or deleted meanwhile.
      if (folder === '' || !(error instanceof FairleadError)) throw error;
      return undefined;
    }
  }

  async function rulesOf(folder: string): Promise<IgnoreMatcher | undefined> {
    const file = await workspace.read(`${under(folder)}/.gitignore`, { unseen: true }).catch(() => undefined);
    return file?.text === undefined ? undefined : parseIgnoreFile(file.text);
  }

  function under(folder: string): string {
    return folder === '' ? from : `${from}/${folder}`;
  }
}

/** The deepest .gitignore that matches a path decides. */
function isIgnored(path: string, isFolder: boolean, rules: readonly IgnoreRule[]): boolean {
  for (const { base, ignore } of rules.toReversed()) {
    const said = ignore(base === '' ? path : path.slice(base.length + 1), isFolder);
    if (said !== undefined) return said;
  }
  return false;
}
