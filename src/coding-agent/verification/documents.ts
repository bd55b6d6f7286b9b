// Opens the documents of a folder or file as evidence: the index of the folder is brought up to date and searched for each claim.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { Evidence, EvidenceSearch } from '../../checks/index.ts';
import { FairleadError } from '../../core/index.ts';
import { createEvidenceSearch } from '../../retrieval/index.ts';
import { openFolderIndex } from '../documents/index.ts';
import type { Settings } from '../settings/index.ts';

/** Documents that claims are compared with. */
export type Documents = {
  readonly search: EvidenceSearch;
  /** Returns a piece of evidence if its file has not changed; undefined if it is gone or changed. */
  readonly refresh: (evidence: Evidence) => Promise<Evidence | undefined>;
  close(): Promise<void>;
};

/** Which documents are opened. */
export type OpenDocumentsOptions = {
  readonly settings: Settings;
  /** The folder or file. */
  readonly root: string;
  /** A file that must not be its own evidence. */
  readonly exclude?: string;
  readonly signal?: AbortSignal;
};

/** Opens the documents of a folder or file. Throws if there are none. */
export async function openDocuments({ settings, root, exclude, signal }: OpenDocumentsOptions): Promise<Documents> {
  const index = await openFolderIndex({ settings, root });
  try {
    const { files } = await index.update(signal ? { signal } : {});
    if (files === 0)
      throw new FairleadError('verify/no-documents', `There are no documents in ${root}.`, { blame: 'user' });
    const excluded = exclude === undefined ? undefined : toIndexPath(index.root, exclude);
    const search = createEvidenceSearch(index);
    return {
      async search(query, options) {
        // The passages of the excluded file do not take the place of others.
        const found = await search(query, { ...options, limit: options.limit * (excluded === undefined ? 1 : 3) });
        return found.filter(({ source }) => source.path !== excluded).slice(0, options.limit);
      },
      async refresh(evidence) {
        const { source } = evidence;
        return source.type !== 'document' || (await index.isCurrent(source)) ? evidence : undefined;
      },
      close: () => index.close(),
    };
  } catch (error) {
    await index.close();
    throw error;
  }
}

const toIndexPath = (root: string, file: string): string =>
  path.relative(root, realpathSync(file)).split(path.sep).join('/');
