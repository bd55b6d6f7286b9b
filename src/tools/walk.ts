// Walks all files below a folder: follows no links, and skips what .gitignore ignores.
import { setImmediate } from 'node:timers/promises';
import {
  FairleadError,
  isIgnoredPath,
  parseIgnoreFile,
  skippedNames,
  type IgnoreMatcher,
  type IgnoreRule,
  type StepCounter,
  type Workspace,
} from '../core/index.ts';

const maxFiles = 200_000;
/** Max nesting depth of folders. */
export const maxWalkDepth = 100;

/** The event loop continues after this many steps of matching. */
const stepsPerPause = 1_000_000;

/** The notice if a walk was not complete. */
export const incompleteWalkNotice =
  '[Not everything was searched: there are more than 200,000 files, or a folder contains more than 10,000 names.]';

/** Yields the files below a folder in name order, as relative paths. `onTruncated` is called if there are too many. Unreadable folders are skipped. */
export async function* walkFiles(
  workspace: Workspace,
  from: string,
  signal: AbortSignal,
  onTruncated: () => void = () => {},
): AsyncGenerator<string> {
  let remainingFiles = maxFiles;
  const counter: StepCounter = { steps: 0 };
  let pauseAt = stepsPerPause;
  yield* visit('', [], 0);

  async function* visit(folder: string, parentRules: readonly IgnoreRule[], depth: number): AsyncGenerator<string> {
    signal.throwIfAborted();
    const entries = await entriesOf(folder);
    if (!entries) return;
    const ownIgnore = entries.some((each) => each.name === '.gitignore' && each.type !== 'folder')
      ? await rulesOf(folder)
      : undefined;
    const rules = ownIgnore ? [...parentRules, { base: folder, ignore: ownIgnore }] : parentRules;
    for (const { name, type } of entries) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const isSkipped = skippedNames.has(name) || isIgnoredPath(path, type === 'folder', rules);
      if (counter.steps > pauseAt) {
        pauseAt = counter.steps + stepsPerPause;
        await setImmediate();
        signal.throwIfAborted();
      }
      if (isSkipped) continue;
      if (type === 'folder' && depth < maxWalkDepth) yield* visit(path, rules, depth + 1);
      else if (type === 'file') {
        if (remainingFiles-- <= 0) return onTruncated();
        yield path;
      }
    }
  }

  async function entriesOf(folder: string) {
    try {
      const { entries, more } = await workspace.list(fullPath(folder));
      if (more) onTruncated();
      return entries;
    } catch (error) {
      // The requested folder must exist; one below it may be unreadable or deleted meanwhile.
      if (folder === '' || !(error instanceof FairleadError)) throw error;
      return undefined;
    }
  }

  async function rulesOf(folder: string): Promise<IgnoreMatcher | undefined> {
    const file = await workspace.read(`${fullPath(folder)}/.gitignore`, { unseen: true }).catch(() => undefined);
    return file?.text === undefined ? undefined : parseIgnoreFile(file.text, counter);
  }

  function fullPath(folder: string): string {
    return folder === '' ? from : `${from}/${folder}`;
  }
}
