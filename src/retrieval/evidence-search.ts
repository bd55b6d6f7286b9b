// Connects an index to verification: a search whose results are evidence with their source and the document around them. What a model wrote is no evidence.
import type { DocumentIndex } from './document-index.ts';
import { isConversation, isModelPassage } from './conversations.ts';
import { isProse, type ReadableText } from './split/split-document.ts';
import type { PassageSource, SearchHit } from './types.ts';

/** A passage as evidence: where it is, its text exactly as it is there, and the document that it is a part of. */
export type DocumentEvidence = WholeEvidence & {
  /** Absent if the document cannot be read as a whole: then the passage supports nothing word for word. */
  readonly within?: () => { readonly whole: WholeEvidence; readonly start: number; readonly title?: string };
};

/** A text and where it comes from. */
export type WholeEvidence = {
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

/** A document that was read. */
type KnownDocument = {
  readonly whole: WholeEvidence;
  readonly title: string;
  /** Where the lines of the text start. */
  readonly starts: readonly number[];
  /** The line of the source of each line of the text. */
  readonly lines: readonly number[];
  readonly isConversation: boolean;
};

/** Documents are kept up to this number of characters. */
const maxKeptChars = 16_000_000;

/** Returns the search of an index as a source of evidence for `fairlead/checks`. */
export function createEvidenceSearch(
  index: Pick<DocumentIndex, 'search'> & Partial<Pick<DocumentIndex, 'readWhole'>>,
): DocumentEvidenceSearch {
  const known = new Map<string, Promise<KnownDocument | undefined>>();
  let keptChars = 0;

  function readOnce(source: PassageSource): Promise<KnownDocument | undefined> {
    const key = `${source.hash} ${source.path}`;
    const found = known.get(key);
    if (found) return found;
    const read = readKnown(source);
    known.set(key, read);
    return read;
  }

  async function readKnown(source: PassageSource): Promise<KnownDocument | undefined> {
    const document = await index.readWhole?.(source).catch(() => undefined);
    if (!document) return undefined;
    keptChars += document.text.length;
    if (keptChars > maxKeptChars) {
      known.clear();
      keptChars = document.text.length;
    }
    return toKnown(source, document);
  }

  async function toEvidence({ source, text, title }: SearchHit): Promise<readonly DocumentEvidence[]> {
    if (isModelPassage(source, title)) return [];
    const { path, lines, hash } = source;
    const evidence: WholeEvidence = { source: { type: 'document', path, lines, hash }, text };
    // A record is complete.
    if (source.id !== undefined) return [{ ...evidence, within: () => ({ whole: evidence, start: 0, title }) }];
    if (/\.(?:jsonl|ndjson)$/i.test(path)) return [evidence];
    const document = await readOnce(source);
    if (document?.isConversation) return [];
    const start = document && isProse(path) ? findStart(document, evidence) : undefined;
    if (!document || start === undefined) return [evidence];
    const { whole, title: pageTitle } = document;
    return [{ ...evidence, within: () => ({ whole, start, ...(pageTitle === '' ? {} : { title: pageTitle }) }) }];
  }

  return async (query, options) => {
    // What is left out does not take the place of other passages.
    const { hits } = await index.search(query, { ...options, limit: options.limit * 2 });
    const found: DocumentEvidence[] = [];
    for (const hit of hits) {
      if (found.length >= options.limit) break;
      found.push(...(await toEvidence(hit)));
    }
    return found;
  };
}

function toKnown({ path, hash }: PassageSource, { text, title, lines }: ReadableText): KnownDocument {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  const last = lines?.at(-1) ?? starts.length;
  return {
    whole: { source: { type: 'document', path, lines: [1, last], hash }, text },
    title,
    starts,
    lines: lines ?? starts.map((_, i) => i + 1),
    isConversation: isConversation(path, text),
  };
}

/** Where a passage is in its document; undefined if that is not certain. */
function findStart({ whole, starts, lines }: KnownDocument, { source, text }: WholeEvidence): number | undefined {
  const [first, last] = source.lines;
  const from = starts[lines.findIndex((line) => line >= first)] ?? 0;
  const next = lines.findIndex((line) => line > last);
  const part = whole.text.slice(from, next < 0 ? undefined : starts[next]);
  const at = part.indexOf(text);
  return at >= 0 && part.indexOf(text, at + 1) < 0 ? from + at : undefined;
}
