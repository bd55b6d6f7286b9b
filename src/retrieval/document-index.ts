// The index of a folder or a file: updates it, and searches it by words and by vectors. What it returns is never older than the files.
import { lstatSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { errorMessage, escapeInvisibleLine, FairleadError, isSecretFile } from '../core/index.ts';
import { embedMissing, embedQuery } from './embed-passages.ts';
import { fuseByScore, type FuseLists } from './fuse-lists.ts';
import { parseQueryWords } from './query-words.ts';
import { defaultMaxFileBytes, fileStamp, readDocument, readWholeText, uncertainMark } from './read-document.ts';
import type { ReadableText } from './split/split-document.ts';
import type {
  EmbeddingModel,
  FusedHit,
  IndexCounts,
  IndexedFile,
  IndexStorage,
  PassageSource,
  ScoredKey,
  SearchResult,
  StoredPassage,
} from './types.ts';
import {
  assertFolderExists,
  updateIndex,
  type IndexBounds,
  type IndexRoot,
  type UpdateOptions,
  type UpdateReport,
} from './update-index.ts';
import { defaultMaxFiles } from './walk-folder.ts';

/** Options of `createDocumentIndex`. */
export type DocumentIndexOptions = Partial<IndexBounds> & {
  /** The folder that is indexed, or one file. */
  readonly root: string;
  readonly storage: IndexStorage;
  /** Adds vectors to the index; without it only words are searched. */
  readonly embedding?: EmbeddingModel;
  /** How the two lists are combined; by weighted scores by default. */
  readonly fuse?: FuseLists;
};

/** Options of a search. */
export type SearchOptions = { readonly limit?: number; readonly signal?: AbortSignal };

/** An index of a folder or a file. */
export type DocumentIndex = {
  /** The real path of the folder or file. */
  readonly root: string;
  update(options?: UpdateOptions): Promise<UpdateReport>;
  /** Finds passages. A file that changed since it was indexed is indexed again first; a file that is gone is not returned. */
  search(query: string, options?: SearchOptions): Promise<SearchResult>;
  /** Whether the file of a passage still has the content that the passage was taken from. */
  isCurrent(source: PassageSource): Promise<boolean>;
  /** Reads the text of the whole file of a passage; undefined if its content changed, if it is too large, or if it is no text. */
  readWhole(source: Pick<PassageSource, 'path' | 'hash'>): Promise<ReadableText | undefined>;
  counts(): Promise<IndexCounts>;
  close(): Promise<void>;
  /** Closes the index and deletes what is stored. */
  destroy(): Promise<void>;
};

const missing = { type: 'missing' } as const;

/** Max hits of each list. */
const defaultLimit = 10;
const maxLimit = 1000;
/** The lists are fused from at least this many hits each. */
const fusionDepth = 100;
/** How often a search starts again because files changed; then their hits are left out. */
const maxRounds = 4;
/** Passages that a search embeds at most, after files changed. */
const maxEmbeddedBySearch = 256;
const defaultMaxTotalBytes = 4 * 1024 ** 3;

/** Creates the index of a folder or a file in a storage. */
export function createDocumentIndex(options: DocumentIndexOptions): DocumentIndex {
  const { storage, embedding } = options;
  const root = resolveRoot(options.root);
  const fuse: FuseLists = options.fuse ?? fuseByScore;
  const bounds: IndexBounds = {
    maxFileBytes: options.maxFileBytes ?? defaultMaxFileBytes,
    maxFiles: options.maxFiles ?? defaultMaxFiles,
    maxTotalBytes: options.maxTotalBytes ?? defaultMaxTotalBytes,
  };

  async function search(
    query: string,
    { limit = defaultLimit, signal = new AbortController().signal }: SearchOptions = {},
  ): Promise<SearchResult> {
    assertFolderExists(root);
    const most = Math.min(maxLimit, Math.max(1, Math.trunc(limit)));
    const words = parseQueryWords(query);
    const notices: string[] = [];
    const refreshed = new Set<string>();
    const vector = await queryVector(query, signal, notices);
    for (let round = 1; ; round += 1) {
      signal.throwIfAborted();
      const depth = Math.max(most, vector ? fusionDepth : most);
      const lexical = await storage.findWords(words, depth);
      const semantic = vector ? await storage.findNear(vector, depth) : [];
      const fused = fuse([lexical, semantic], most);
      const top = [lexical.slice(0, most), semantic.slice(0, most)] as const;
      const passages = await storage.passages([
        ...new Set([...top.flat().map(({ key }) => key), ...fused.map(({ key }) => key)]),
      ]);
      const stale = findStale(passages, refreshed);
      if (stale.size > 0 && round < maxRounds) {
        await refresh(stale, signal, notices);
        for (const name of stale.keys()) refreshed.add(name);
        continue;
      }
      const current = new Map([...passages].filter(([, passage]) => !stale.has(passage.file.path)));
      const ranks = new Map(fused.map((item) => [item.key, ranksOf(item.ranks)]));
      return {
        query,
        lexical: toHits(top[0], current),
        semantic: toHits(top[1], current),
        hits: toHits(fused, current, (key) => ranks.get(key)),
        notices: [...new Set([...storage.notices, ...notices])],
      };
    }
  }

  /** The vector of a query, if the index has vectors of this model; a failure leaves the search by words. */
  async function queryVector(query: string, signal: AbortSignal, notices: string[]): Promise<Float32Array | undefined> {
    if (!embedding || query.trim() === '') return undefined;
    const name = await storage.embeddingName();
    if (name !== embedding.name) {
      notices.push(`The index has no vectors of ${embedding.name}: index the folder again. Only words were searched.`);
      return undefined;
    }
    try {
      return await embedQuery(embedding, query, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      notices.push(`${errorMessage(error)} Only words were searched.`);
      return undefined;
    }
  }

  /** The paths and known hashes of files that are not as they were when they were indexed, and of files with an uncertain stamp that were not compared yet. */
  function findStale(
    passages: ReadonlyMap<number, StoredPassage>,
    compared: ReadonlySet<string>,
  ): ReadonlyMap<string, string> {
    const files = new Map([...passages.values()].map(({ file }) => [file.path, file]));
    const isStale = ({ path: name, stamp }: IndexedFile): boolean =>
      readStamp(name) !== stamp.replace(uncertainMark, '') || (stamp.endsWith(uncertainMark) && !compared.has(name));
    return new Map([...files.values()].filter(isStale).map(({ path: name, hash }) => [name, hash]));
  }

  function readStamp(name: string): string | undefined {
    try {
      const stats = lstatSync(path.join(root.folder, name), { bigint: true });
      return stats.isFile() ? fileStamp(stats) : undefined;
    } catch {
      return undefined;
    }
  }

  async function refresh(files: ReadonlyMap<string, string>, signal: AbortSignal, notices: string[]): Promise<void> {
    for (const [name, knownHash] of files) {
      const result = isSecretFile(name) ? missing : await readDocument(root.folder, name, { ...bounds, knownHash });
      if (result.type === 'same') {
        await storage.touch([result.file]);
        continue;
      }
      const file =
        result.type === 'read'
          ? result.file
          : result.type === 'skipped' && result.file && { ...result.file, passages: [] };
      if (file) await storage.replace([file]);
      else await storage.remove([name]);
    }
    // A search never replaces the vectors of another model.
    if (!embedding || (await storage.embeddingName()) !== embedding.name) return;
    try {
      await embedMissing(storage, embedding, { limit: maxEmbeddedBySearch, signal });
    } catch (error) {
      if (signal.aborted) throw error;
      notices.push(errorMessage(error));
    }
  }

  return {
    root: root.only === undefined ? root.folder : path.join(root.folder, root.only),
    update: (updateOptions = {}) =>
      updateIndex(root, storage, bounds, { ...updateOptions, ...(embedding ? { embedding } : {}) }),
    search,
    async isCurrent({ path: name, hash }) {
      return (await readDocument(root.folder, name, { ...bounds, knownHash: hash })).type === 'same';
    },
    readWhole: async ({ path: name, hash }) =>
      isSecretFile(name) ? undefined : readWholeText(root.folder, name, hash),
    counts: () => storage.counts(),
    close: () => storage.close(),
    destroy: () => storage.destroy(),
  };
}

/** The real folder of a path; a file is an index of its own. */
function resolveRoot(given: string): IndexRoot {
  try {
    const real = realpathSync.native(given);
    return statSync(real).isDirectory() ? { folder: real } : { folder: path.dirname(real), only: path.basename(real) };
  } catch (error) {
    throw new FairleadError('retrieval/no-folder', `There is no folder or file ${escapeInvisibleLine(given)}.`, {
      blame: 'user',
      hint: 'Name a folder or a file that exists.',
      cause: error,
    });
  }
}

type HitRanks = Pick<FusedHit, 'lexicalRank' | 'semanticRank'>;

function toHits(
  scored: readonly ScoredKey[],
  passages: ReadonlyMap<number, StoredPassage>,
  ranksByKey: (key: number) => HitRanks | undefined = () => undefined,
): readonly FusedHit[] {
  const hits: FusedHit[] = [];
  for (const { key, score } of scored) {
    const passage = passages.get(key);
    if (!passage) continue;
    const { title, text, lines, page, id, file } = passage;
    const optional = { ...(page === undefined ? {} : { page }), ...(id === undefined ? {} : { id }) };
    hits.push({
      source: { path: file.path, lines, hash: file.hash, ...optional },
      title,
      text,
      rank: hits.length + 1,
      score,
      ...ranksByKey(key),
    });
  }
  return hits;
}

const ranksOf = ([lexicalRank, semanticRank]: readonly (number | undefined)[]): HitRanks => ({
  ...(lexicalRank === undefined ? {} : { lexicalRank }),
  ...(semanticRank === undefined ? {} : { semanticRank }),
});
