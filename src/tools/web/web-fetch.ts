// The web_fetch tool: fetches a page and returns its readable content in parts, marked as untrusted.
import type { Tool, Workspace } from '../../core/index.ts';
import type { FetchedDocument } from './fetched-document.ts';

const maxCachedDocuments = 8;

type WebFetchInput = { readonly url: string; readonly offset?: number };

/** Creates the web_fetch tool. */
export function webFetch(workspace: Workspace): Tool {
  /** The latest documents, so that all parts of a long one come from the same version. */
  const documents = new Map<string, FetchedDocument>();
  return {
    name: 'web_fetch',
    description:
      'Fetch a web page as readable text. Plain text and JSON are returned unchanged; a long page in parts: continue with offset.',
    input: {
      type: 'object',
      properties: {
        url: { type: 'string', maxLength: 8000 },
        offset: { type: 'integer', minimum: 0, description: 'First character, from 0.' },
      },
      required: ['url'],
      additionalProperties: false,
    },
    effect: 'external',
    untrustedOutput: true,
    idempotent: true,
    async execute(input, { signal }) {
      const { fetchDocument, pieceOutput } = await import('./fetched-document.ts');
      const { url, offset = 0 } = input as WebFetchInput;
      const document = (offset > 0 ? documents.get(url) : undefined) ?? (await fetchDocument(workspace, url, signal));
      documents.delete(url);
      documents.set(url, document);
      for (const old of [...documents.keys()].slice(0, -maxCachedDocuments)) documents.delete(old);
      return pieceOutput(document, offset);
    },
  };
}
