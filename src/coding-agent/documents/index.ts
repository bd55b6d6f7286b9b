// Indexes of documents for the coding agent, the command line and the server: where they are, and how they are opened.
export {
  findIndexedRoot,
  findSearchRoots,
  getIndexFile,
  listIndexes,
  removeIndex,
  resolveDocumentRoot,
  type IndexListEntry,
} from './index-location.ts';
export {
  assertMayLeave,
  openEmbedding,
  openFolderIndex,
  updateBeforeSearch,
  type OpenIndexOptions,
} from './open-index.ts';
export { createSearchTool } from './search-tool.ts';
