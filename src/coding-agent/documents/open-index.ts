// Opens the index of a folder with the settings of the user: where it is stored, and which model makes its vectors.
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isPathInside } from '../../core/index.ts';
import { parseModelRef } from '../../providers/index.ts';
import {
  createDocumentIndex,
  fuseByRank,
  fuseByScore,
  openLocalEmbedding,
  openSqliteStorage,
  withEmbeddingPrefixes,
  type DocumentIndex,
  type EmbeddingModel,
  type IndexStorage,
} from '../../retrieval/index.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import { isLocalModel } from '../private-sessions.ts';
import { createStrictRedactor, type Settings } from '../settings/index.ts';
import { getIndexFile, resolveDocumentRoot } from './index-location.ts';

/** Which index is opened. */
export type OpenIndexOptions = {
  readonly settings: Settings;
  /** The folder or file. */
  readonly root: string;
  /** The embedding model, such as `ollama/nomic-embed-text`, `openai/text-embedding-3-small` or `local`; by default the one that the index was made with, and `none` for none. */
  readonly embedding?: string;
  /** A PostgreSQL database for the index; by default a file in the data directory of the user. */
  readonly store?: string;
  /** How the hits by words and by meaning are combined: by weighted scores (the default), or by reciprocal rank. */
  readonly fusion?: 'rank' | 'score';
  /** Throws if text may not be sent to a model at this moment, as in a private session: then words alone are searched. Without it, a model that may never be used is refused at once. */
  readonly assertModelAllowed?: (model: ResolvedModel) => Promise<void>;
};

/** Opens the index of a folder; it is empty if there is none yet. */
export async function openFolderIndex({
  settings,
  root,
  embedding,
  store,
  fusion,
  assertModelAllowed,
}: OpenIndexOptions): Promise<DocumentIndex> {
  const real = resolveDocumentRoot(root);
  const storage = await openStorage(settings, real, store);
  try {
    const name = embedding ?? (await storage.embeddingName());
    const model =
      name === undefined || name === 'none' ? undefined : await openEmbedding(name, settings, real, assertModelAllowed);
    return createDocumentIndex({
      root: real,
      storage,
      fuse: fusion === 'rank' ? fuseByRank : fuseByScore,
      ...(model ? { embedding: model } : {}),
    });
  } catch (error) {
    await storage.close();
    throw error;
  }
}

async function openStorage(settings: Settings, root: string, store: string | undefined): Promise<IndexStorage> {
  if (store === undefined) return openSqliteStorage(getIndexFile(settings.dirs, root), { root });
  const { openPostgresIndex } = await import('./postgres-index.ts');
  return openPostgresIndex(store, root);
}

/** Larger indexes are not updated before each search: looking at every file takes seconds. The files of the hits are always compared. */
const maxFilesToUpdate = 5000;

/** Updates an index before a search, if it is small. Returns what a user should know, one sentence each. */
export async function updateBeforeSearch(index: DocumentIndex, signal: AbortSignal): Promise<readonly string[]> {
  const { files } = await index.counts();
  if (files <= maxFilesToUpdate) return (await index.update({ signal })).notices;
  return [`The index has ${files} files, so new files were not looked for: fairlead index adds them.`];
}

/** Throws if the text of a folder would leave the user's own machines although it must not: with the setting `private`, and for session logs, which may be of private sessions. */
export async function assertMayLeave(
  root: string,
  model: Pick<ResolvedModel, 'name' | 'ref'>,
  settings: Settings,
): Promise<void> {
  const sessions = path.join(settings.dirs.data, 'sessions');
  const real = existsSync(sessions) ? realpathSync.native(sessions) : undefined;
  // A folder that contains the sessions would send them too.
  const isSessions = real !== undefined && (isPathInside(real, root) || isPathInside(root, real));
  if ((!settings.private && !isSessions) || (await isLocalModel(model, settings))) return;
  const why = settings.private ? 'The setting "private" is on' : 'Session logs may be private';
  throw new FairleadError('routing/private', `${why}, and ${model.name} is not on your own machines.`, {
    blame: 'user',
    hint: 'Use a model on your own machines, such as one of Ollama.',
  });
}

/** Opens an embedding model by name for the text of a folder. What it sends has no keys of the user. */
export async function openEmbedding(
  name: string,
  settings: Settings,
  root: string,
  assertModelAllowed?: OpenIndexOptions['assertModelAllowed'],
): Promise<EmbeddingModel> {
  if (name === 'local' || name.startsWith('local/'))
    return openLocalEmbedding(name.slice('local/'.length) || undefined);
  const named = parseModelRef(name);
  // The address that text is sent to decides whether it stays on the user's own machines.
  const ref =
    settings.provider === named.provider && settings.url !== undefined ? { ...named, baseUrl: settings.url } : named;
  if (!assertModelAllowed) await assertMayLeave(root, { name, ref }, settings);
  const { openEmbeddingModel } = await import('../../providers/index.ts');
  const model = await openEmbeddingModel(ref, { env: settings.env });
  const redactor = createStrictRedactor(settings);
  const guard = await createEmbeddingGuard({ name, ref }, settings);
  return withEmbeddingPrefixes({
    ...model,
    async embed(texts, signal) {
      if (assertModelAllowed) {
        await assertMayLeave(root, { name, ref }, settings);
        await assertModelAllowed({ name, ref });
      }
      return model.embed(
        texts.map((text) => guard(redactor.redact(text))),
        signal,
      );
    },
  });
}

/** Applies the policy of data loss prevention to texts for an embedding model that is not local. A vector has nothing to restore. */
async function createEmbeddingGuard(model: ResolvedModel, settings: Settings): Promise<(text: string) => string> {
  if (await isLocalModel(model, settings)) return (text) => text;
  const [{ readDlpPolicy }, { guardText }] = await Promise.all([
    import('../dlp/index.ts'),
    import('../../guards/dlp/index.ts'),
  ]);
  const policy = readDlpPolicy(settings);
  return (text) => guardText(text, policy, 'model', `a request to ${model.name}`).text;
}
