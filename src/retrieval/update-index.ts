// Brings an index up to date with its folder: reads what is new or changed, removes what is gone, and embeds what has no vector.
import { statSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, escapeInvisibleLine, FairleadError, isSecretFile } from '../core/index.ts';
import { embedMissing } from './embed-passages.ts';
import { fileStamp, readDocument, type SkipReason } from './read-document.ts';
import type { EmbeddingModel, FilePassages, IndexCounts, IndexedFile, IndexStorage } from './types.ts';
import { walkFolder, type FoundFile, type WalkProblems } from './walk-folder.ts';

/** The bounds of an index. */
export type IndexBounds = {
  readonly maxFileBytes: number;
  readonly maxFiles: number;
  readonly maxTotalBytes: number;
};

/** How far an update is. */
export type UpdateProgress = {
  readonly phase: 'reading' | 'embedding';
  /** Files that were looked at, or passages that were embedded. */
  readonly done: number;
  readonly changed: number;
};

/** What an update did. */
export type UpdateReport = IndexCounts & {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly embedded: number;
  /** Files without passages by reason. */
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  /** What was not indexed, one sentence each. */
  readonly notices: readonly string[];
  readonly ms: number;
};

/** The folder, or the one file, of an index: real paths. */
export type IndexRoot = { readonly folder: string; readonly only?: string };

/** One transaction has at most this many files or bytes. */
const filesPerBatch = 256;
const bytesPerBatch = 8 * 1024 * 1024;

/** Options of an update. */
export type UpdateOptions = {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: UpdateProgress) => void;
};

/** Updates an index. Each batch is one transaction: an update that was killed is continued by the next one. */
export async function updateIndex(
  root: IndexRoot,
  storage: IndexStorage,
  bounds: IndexBounds,
  {
    signal = new AbortController().signal,
    onProgress,
    embedding,
  }: UpdateOptions & { readonly embedding?: EmbeddingModel },
): Promise<UpdateReport> {
  const start = performance.now();
  const known = await storage.files();
  const seen = new Set<string>();
  const problems: WalkProblems = { secret: 0, links: 0, tooMany: false, unreadableFolders: 0 };
  const skipped: Partial<Record<SkipReason, number>> = {};
  const counts = { added: 0, changed: 0, unchanged: 0 };
  const touched: IndexedFile[] = [];
  let batch: FilePassages[] = [];
  let batchBytes = 0;
  let totalBytes = 0;
  let isTooLarge = false;
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await storage.replace(batch);
    [batch, batchBytes] = [[], 0];
  };
  for await (const found of listFiles(root, bounds, problems, signal)) {
    signal.throwIfAborted();
    totalBytes += found.size;
    if (totalBytes > bounds.maxTotalBytes) {
      isTooLarge = true;
      break;
    }
    const before = known.get(found.path);
    if (before?.stamp === found.stamp) {
      seen.add(found.path);
      counts.unchanged += 1;
    } else {
      const result = await readDocument(root.folder, found.path, { ...bounds, knownHash: before?.hash });
      if (result.type === 'same') {
        seen.add(found.path);
        touched.push(result.file);
        counts.unchanged += 1;
        continue;
      }
      if (result.type === 'skipped') skipped[result.reason] = (skipped[result.reason] ?? 0) + 1;
      const file =
        result.type === 'read'
          ? result.file
          : result.type === 'skipped' && result.file && { ...result.file, passages: [] };
      if (file) {
        seen.add(found.path);
        batch.push(file);
        batchBytes += found.size;
        countChange(counts, before, file);
      }
      if (batch.length >= filesPerBatch || batchBytes >= bytesPerBatch) await flush();
    }
    if (seen.size % 200 === 0)
      onProgress?.({ phase: 'reading', done: seen.size, changed: counts.added + counts.changed });
  }
  await flush();
  if (touched.length > 0) await storage.touch(touched);
  assertFolderExists(root);
  const removed = [...known.keys()].filter((name) => !seen.has(name));
  for (let at = 0; at < removed.length; at += filesPerBatch)
    await storage.remove(removed.slice(at, at + filesPerBatch));
  onProgress?.({ phase: 'reading', done: seen.size, changed: counts.added + counts.changed });
  const embedded = await embedAll(storage, embedding, signal, onProgress);
  return {
    ...(await storage.counts()),
    ...counts,
    removed: removed.length,
    embedded: embedded.count,
    skipped: { ...skipped, ...(problems.secret > 0 ? { secret: problems.secret } : {}) },
    notices: [
      ...storage.notices,
      ...formatNotices(problems, isTooLarge ? bounds.maxTotalBytes : undefined, bounds.maxFiles),
      ...embedded.notices,
    ],
    ms: Math.round(performance.now() - start),
  };
}

function countChange(
  counts: { added: number; changed: number; unchanged: number },
  before: IndexedFile | undefined,
  file: IndexedFile,
): void {
  if (!before) counts.added += 1;
  else if (before.hash === file.hash) counts.unchanged += 1;
  else counts.changed += 1;
}

/** The files of the folder, or the one file. */
async function* listFiles(
  root: IndexRoot,
  bounds: IndexBounds,
  problems: WalkProblems,
  signal: AbortSignal,
): AsyncGenerator<FoundFile> {
  assertFolderExists(root);
  // The folder itself may be one of keys.
  if (isSecretFile(path.join(root.folder, root.only ?? 'any'))) {
    problems.secret += 1;
    return;
  }
  if (root.only === undefined) {
    yield* walkFolder(root.folder, { maxFiles: bounds.maxFiles, signal, problems });
    return;
  }
  const stats = statSync(path.join(root.folder, root.only), { bigint: true });
  yield { path: root.only, size: Number(stats.size), stamp: fileStamp(stats) };
}

/** Throws if the folder of the index is gone. What was indexed is kept: it may be on a disk that is not connected. */
export function assertFolderExists({ folder, only }: IndexRoot): void {
  const target = only === undefined ? folder : path.join(folder, only);
  const stats = statSync(target, { throwIfNoEntry: false });
  if (only === undefined ? stats?.isDirectory() : stats?.isFile()) return;
  throw new FairleadError(
    'retrieval/no-folder',
    `${escapeInvisibleLine(target)} does not exist any more. Its index was not changed.`,
    {
      blame: 'user',
      hint: 'Remove the index with: fairlead index --remove <folder>',
    },
  );
}

async function embedAll(
  storage: IndexStorage,
  model: EmbeddingModel | undefined,
  signal: AbortSignal,
  onProgress: UpdateOptions['onProgress'],
): Promise<{ readonly count: number; readonly notices: readonly string[] }> {
  if (!model) return { count: 0, notices: [] };
  let count = 0;
  try {
    await embedMissing(storage, model, {
      signal,
      onProgress: (done) => {
        count = done;
        onProgress?.({ phase: 'embedding', done, changed: done });
      },
    });
    return { count, notices: [] };
  } catch (error) {
    if (signal.aborted) throw error;
    return { count, notices: [errorMessage(error)] };
  }
}

function formatNotices(
  { links, tooMany, unreadableFolders }: WalkProblems,
  maxTotalBytes: number | undefined,
  maxFiles: number,
): readonly string[] {
  return [
    ...(links > 0 ? [`${links} symbolic ${links === 1 ? 'link was' : 'links were'} not followed.`] : []),
    ...(unreadableFolders > 0
      ? [`${unreadableFolders} ${unreadableFolders === 1 ? 'folder' : 'folders'} could not be read.`]
      : []),
    ...(tooMany ? [`Only the first ${maxFiles.toLocaleString('en')} files were indexed.`] : []),
    ...(maxTotalBytes === undefined
      ? []
      : [`Not all files were indexed: together they have more than ${maxTotalBytes.toLocaleString('en')} bytes.`]),
  ];
}
