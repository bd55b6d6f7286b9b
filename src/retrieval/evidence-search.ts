// Connects an index to verification: a search whose results are evidence with their source.
import type { DocumentIndex } from './document-index.ts';

/** A passage as evidence: where it is, and its text exactly as it is there. */
export type DocumentEvidence = {
  readonly source: {
    readonly type: 'document';
    readonly path: string;
    readonly lines: readonly [number, number];
    readonly hash: string;
  };
  readonly text: string;
};

/** Finds evidence for a text, best first. */
export type DocumentEvidenceSearch = (
  query: string,
  options: { readonly limit: number; readonly signal: AbortSignal },
) => Promise<readonly DocumentEvidence[]>;

/** Returns the search of an index as a source of evidence for `fairlead/checks`. */
export const createEvidenceSearch =
  (index: Pick<DocumentIndex, 'search'>): DocumentEvidenceSearch =>
  async (query, options) =>
    (await index.search(query, options)).hits.map(({ source: { path, lines, hash }, text }) => ({
      source: { type: 'document', path, lines, hash },
      text,
    }));
