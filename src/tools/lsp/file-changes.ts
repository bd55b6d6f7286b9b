// What changed on disk since it was last looked at, for servers that do not look themselves: files made, changed and removed by commands.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Workspace } from '../../core/index.ts';
import { walkFiles } from '../walk.ts';
import type { LanguageServerDefinition } from './definition.ts';

/** Milliseconds that one look may take; what was not reached by then counts as unchanged. */
const scanTimeoutMs = 1500;
/** A look that took long is not repeated before many times as long. */
const backoffFactor = 5;
const concurrentStats = 64;
/** Files that say how a project is built. */
const configFilePattern = /\.(json|jsonc|toml|mod|work|cfg|ini)$/i;

/** A change as the protocol tells it: 1 made, 2 changed, 3 removed. */
export type WatchedFileChange = { readonly uri: string; readonly type: 1 | 2 | 3 };

/** Looks at the files below a root; the first look finds nothing new. */
export function createFileChangeScanner(
  workspace: Workspace,
  root: string,
  definition: LanguageServerDefinition,
): (signal: AbortSignal) => Promise<readonly WatchedFileChange[]> {
  let known: ReadonlyMap<string, string> | undefined;
  let notBefore = 0;
  return async (signal) => {
    const began = Date.now();
    if (began < notBefore) return [];
    const seen = await scanFiles(workspace, root, definition, signal);
    const took = Date.now() - began;
    notBefore = Date.now() + (took > 100 ? took * backoffFactor : 0);
    const before = known ?? seen.stamps;
    known = seen.complete ? seen.stamps : new Map([...before, ...seen.stamps]);
    return diffSnapshots(before, known);
  };
}

type FileSnapshot = { readonly stamps: ReadonlyMap<string, string>; readonly complete: boolean };

async function scanFiles(
  workspace: Workspace,
  root: string,
  { languages }: LanguageServerDefinition,
  signal: AbortSignal,
): Promise<FileSnapshot> {
  const deadline = Date.now() + scanTimeoutMs;
  const stamps = new Map<string, string>();
  let batch: string[] = [];
  const stampAll = async (): Promise<void> => {
    await Promise.all(
      batch.map(async (file) => {
        const found = await stat(file).catch(() => undefined);
        if (found) stamps.set(file, `${found.mtimeMs} ${found.size}`);
      }),
    );
    batch = [];
  };
  let whole = true;
  for await (const file of walkFiles(workspace, root, signal)) {
    if (Object.hasOwn(languages, path.extname(file).toLowerCase()) || configFilePattern.test(file))
      batch.push(path.join(root, file));
    if (batch.length >= concurrentStats) await stampAll();
    whole = Date.now() < deadline;
    if (!whole) break;
  }
  await stampAll();
  return { stamps, complete: whole };
}

function diffSnapshots(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): readonly WatchedFileChange[] {
  const change = (file: string, type: WatchedFileChange['type']): WatchedFileChange => ({
    uri: pathToFileURL(file).href,
    type,
  });
  return [
    ...[...now]
      .filter(([file, stamp]) => before.get(file) !== stamp)
      .map(([file]) => change(file, before.has(file) ? 2 : 1)),
    ...[...before.keys()].filter((file) => !now.has(file)).map((file) => change(file, 3)),
  ];
}
