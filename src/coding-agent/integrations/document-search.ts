// The search_documents tool of a working directory. It is loaded only if the user has indexed a folder.
import { createSearchTool } from '../documents/search-tool.ts';
import type { DocumentIndex } from '../../retrieval/index.ts';
import { findIndexedRoot } from '../documents/index-location.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** Returns the tool if the working directory, or a folder that contains it, is indexed. */
export function openDocumentSearch({ settings, paths, assertModelAllowed }: IntegrationContext): Integration {
  const root = findIndexedRoot(settings.dirs, paths.cwd);
  if (root === undefined) return emptyIntegration;
  let index: Promise<DocumentIndex> | undefined;
  const open = async (): Promise<DocumentIndex> =>
    (await import('../documents/open-index.ts')).openFolderIndex({
      settings,
      root,
      // The session may become private later, so each request is checked.
      assertModelAllowed: async (model) => assertModelAllowed?.(model),
    });
  const openOnce = (): Promise<DocumentIndex> => {
    index ??= open();
    // After a failure the next call tries again.
    index.catch(() => (index = undefined));
    return index;
  };
  return {
    ...emptyIntegration,
    tools: [createSearchTool(openOnce)],
    close: async () => (await index?.catch(() => undefined))?.close(),
  };
}
