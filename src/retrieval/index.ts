// Retrieval: an index over folders, session logs and documents, searched by words and by vectors, for citations and evidence.
export {
  answerFromDocuments,
  formatSource,
  type AnswerModel,
  type AnswerOptions,
  type Citation,
  type DocumentAnswer,
} from './answer-from-documents.ts';
export {
  createDocumentIndex,
  type DocumentIndex,
  type DocumentIndexOptions,
  type SearchOptions,
} from './document-index.ts';
export { withEmbeddingPrefixes } from './embedding-prefixes.ts';
export {
  createEvidenceSearch,
  type DocumentEvidence,
  type DocumentEvidenceSearch,
  type WholeEvidence,
} from './evidence-search.ts';
export {
  defaultFusionConstant,
  fuseByRank,
  fuseByScore,
  type FusedItem,
  type FuseLists,
  type RankedItem,
} from './fuse-lists.ts';
export { defaultLocalModel, openLocalEmbedding } from './local-embedding.ts';
export {
  comparePaired,
  computeNdcg,
  measureRanking,
  parseJudgements,
  type Judgements,
  type PairedComparison,
  type RankingMeasures,
} from './measure-ranking.ts';
export { parseQueryWords } from './query-words.ts';
export type { SkipReason } from './read-document.ts';
export { splitDocument, type ReadableText } from './split/split-document.ts';
export { parseRecord } from './split/split-records.ts';
export { openPostgresStorage, type PostgresConnection, type PostgresValue } from './storage/postgres-storage.ts';
export { deleteIndexFile, readIndexFile, type IndexFileInfo } from './storage/sqlite-file.ts';
export { openSqliteStorage, type SqliteStorageOptions } from './storage/sqlite-storage.ts';
export type {
  EmbeddingModel,
  FilePassages,
  FusedHit,
  IndexCounts,
  IndexedFile,
  IndexStorage,
  Passage,
  PassageSource,
  ScoredKey,
  SearchHit,
  SearchResult,
  StoredPassage,
} from './types.ts';
export type { IndexBounds, UpdateOptions, UpdateProgress, UpdateReport } from './update-index.ts';
