// Detects files created, changed and deleted on disk since the last scan, for servers that do not watch files.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Workspace } from '../../core/index.ts';
import { walkFiles } from '../walk.ts';
import type { LanguageServerDefinition } from './definition.ts';

/** Milliseconds per scan; files not reached by then count as unchanged. */
const scanTimeoutMs = 1500;
/** After a slow scan, the next one waits this many times as long. */
const backoffFactor = 5;
const concurrentStats = 64;
/** Files that configure the build of a project. */
const configFilePattern = /\.(json|jsonc|toml|mod|work|cfg|ini)$/i;

/** A file change of the protocol: 1 created, 2 changed, 3 deleted. */
export type WatchedFileChange = { readonly uri: string; readonly type: 1 | 2 | 3 };

/** Creates a scanner of the files below a root. Its first scan reports no changes. */
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
  let isComplete = true;
  for await (const file of walkFiles(workspace, root, signal)) {
    if (Object.hasOwn(languages, path.extname(file).toLowerCase()) || configFilePattern.test(file))
      batch.push(path.join(root, file));
    if (batch.length >= concurrentStats) await stampAll();
    isComplete = Date.now() < deadline;
    if (!isComplete) break;
  }
  await stampAll();
  return { stamps, complete: isComplete };
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
