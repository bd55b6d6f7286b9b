// The types of retrieval: documents, passages, ranked lists, embedding models and storage.

/** A part of a document that is indexed as one unit. */
export type Passage = {
  /** The heading path, the name of the symbol, or the title of the record. */
  readonly title: string;
  readonly text: string;
  /** The first and the last line in the source, from 1. For a PDF: lines of its extracted text. */
  readonly lines: readonly [number, number];
  /** The page of a PDF, from 1. */
  readonly page?: number;
  /** The id of a record of a JSONL file. */
  readonly id?: string;
};

/** Where a passage comes from, for citations and labels. */
export type PassageSource = {
  /** The path of the file, relative to the indexed folder, with forward slashes. */
  readonly path: string;
  readonly lines: readonly [number, number];
  /** The sha256 of the whole file when the passage was indexed, in hex. */
  readonly hash: string;
  readonly page?: number;
  readonly id?: string;
};

/** A passage that a search found. Its title and text are untrusted. */
export type SearchHit = {
  readonly source: PassageSource;
  readonly title: string;
  readonly text: string;
  /** The position in its list, from 1. */
  readonly rank: number;
  /** Higher is better. Comparable within one list only. */
  readonly score: number;
};

/** A passage of the fused list, with its positions in the lists it was found in. */
export type FusedHit = SearchHit & { readonly lexicalRank?: number; readonly semanticRank?: number };

/** The result of a search: the lists of each method and the fused one. */
export type SearchResult = {
  readonly query: string;
  /** By BM25 on words. */
  readonly lexical: readonly SearchHit[];
  /** By the similarity of vectors; empty if the index has none. */
  readonly semantic: readonly SearchHit[];
  /** Both lists fused; in the order of `lexical` if there are no vectors. */
  readonly hits: readonly FusedHit[];
  /** What was not done as asked, one sentence each. */
  readonly notices: readonly string[];
};

/** Converts texts to vectors. */
export type EmbeddingModel = {
  /** Identifies the model; vectors of another name are not compared. */
  readonly name: string;
  readonly dimensions?: number;
  /** Returns a vector for each text, in order. Some models embed questions and documents differently. */
  embed(
    texts: readonly string[],
    signal: AbortSignal,
    purpose?: 'query' | 'document',
  ): Promise<readonly (readonly number[] | Float32Array)[]>;
};

/** The state of a file when it was indexed. If the stamp is the same, the content is too. */
export type IndexedFile = {
  readonly path: string;
  readonly size: number;
  /** Changes whenever the content may have changed. */
  readonly stamp: string;
  /** Sha256 of the content, in hex. */
  readonly hash: string;
};

/** A file and its passages, to be stored. */
export type FilePassages = IndexedFile & { readonly passages: readonly Passage[] };

/** A passage as it is stored. */
export type StoredPassage = Passage & { readonly key: number; readonly file: IndexedFile };

/** A passage that a storage found, with its score. */
export type ScoredKey = { readonly key: number; readonly score: number };

/** Counts of an index. */
export type IndexCounts = {
  readonly files: number;
  readonly passages: number;
  readonly vectors: number;
  /** The size on disk in bytes. */
  readonly bytes: number;
};

/** Stores the files, passages and vectors of one index. Each change is one transaction. */
export type IndexStorage = {
  /** The stored files by path. */
  files(): Promise<ReadonlyMap<string, IndexedFile>>;
  /** Replaces the passages of files; a file without passages is stored too, so that it is not read again. */
  replace(files: readonly FilePassages[]): Promise<void>;
  /** Stores new stamps of files whose content has not changed. */
  touch(files: readonly IndexedFile[]): Promise<void>;
  remove(paths: readonly string[]): Promise<void>;
  /** Finds passages that contain one of the words, best first. */
  findWords(words: readonly string[], limit: number): Promise<readonly ScoredKey[]>;
  passages(keys: readonly number[]): Promise<ReadonlyMap<number, StoredPassage>>;
  /** The name of the embedding model of the vectors. */
  embeddingName(): Promise<string | undefined>;
  /** Removes all vectors, and sets the name of the model of later ones. */
  resetVectors(name: string): Promise<void>;
  /** Passages without a vector. */
  withoutVector(
    limit: number,
  ): Promise<readonly { readonly key: number; readonly title: string; readonly text: string }[]>;
  /** Stores vectors of length 1 by this model. A passage that was removed meanwhile is skipped, and so are all if the index has another model now. */
  addVectors(name: string, vectors: readonly { readonly key: number; readonly vector: Float32Array }[]): Promise<void>;
  /** Finds passages by the cosine of their vector with this one, best first. */
  findNear(vector: Float32Array, limit: number): Promise<readonly ScoredKey[]>;
  counts(): Promise<IndexCounts>;
  /** What happened when it was opened, one sentence each, such as that a damaged file was replaced. */
  readonly notices: readonly string[];
  close(): Promise<void>;
  /** Deletes everything that is stored. */
  destroy(): Promise<void>;
};
