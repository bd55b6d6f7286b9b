// The web_fetch tool: fetches a page and returns its readable content in parts, marked as untrusted.
import {
  FairleadError,
  errorMessage,
  toolOutput,
  wrapUntrusted,
  escapeInvisibleLine,
  type ToolOutput,
  type Tool,
  type Workspace,
} from '../../core/index.ts';
import { fetchViaWorkspace, decodeBodyText, contentType } from './fetch.ts';

const maxPieceChars = 20_000;
const maxCachedDocuments = 8;
/** Longer pages are truncated before they are parsed. */
const maxHtmlChars = 3_000_000;

type WebFetchInput = { readonly url: string; readonly offset?: number };
type FetchedDocument = {
  readonly url: string;
  readonly status: number;
  readonly type: string;
  readonly title: string;
  readonly text: string;
};

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
      const { url, offset = 0 } = input as WebFetchInput;
      const document = (offset > 0 ? documents.get(url) : undefined) ?? (await fetchDocument(workspace, url, signal));
      documents.delete(url);
      documents.set(url, document);
      for (const old of [...documents.keys()].slice(0, -maxCachedDocuments)) documents.delete(old);
      const { neutralizeText } = await import('./shown-text.ts');
      return pieceOutput(document, offset, (text) => neutralizeText(text, { isRendered: true }));
    },
  };
}

async function fetchDocument(workspace: Workspace, url: string, signal: AbortSignal): Promise<FetchedDocument> {
  const headers = { accept: 'text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1' };
  const fetched = await fetchViaWorkspace(workspace, { url, headers }, signal);
  const type = contentType(fetched);
  const source = { url: fetched.url, status: fetched.status, type };
  const text = decodeBodyText(fetched);
  if (text === undefined)
    return {
      ...source,
      title: '',
      text: `(This is not text but ${type || 'of an unknown type'}, ${fetched.body.length} bytes.)`,
    };
  const isHtml =
    /^(?:text\/html|application\/xhtml\+xml)$/.test(type) || (type === '' && /^\s*<(?:!doctype|html)/i.test(text));
  if (!isHtml) {
    const { neutralizeText } = await import('./shown-text.ts');
    return { ...source, title: '', text: neutralizeText(fetched.truncated ? `${text}\n(cut here)` : text) };
  }
  const { readPage } = await import('./page.ts');
  try {
    return { ...source, ...(await readPage(text.slice(0, maxHtmlChars), fetched.url, signal)) };
  } catch (error) {
    if (signal.aborted) throw error;
    throw new FairleadError('web/unreadable', `The page could not be made readable. ${errorMessage(error)}`, {
      blame: 'tool',
      cause: error,
    });
  }
}

function pieceOutput(
  { url, status, type, title, text }: FetchedDocument,
  offset: number,
  neutralize: (text: string) => string,
): ToolOutput {
  if (offset > 0 && offset >= text.length)
    return toolOutput({ failed: true, text: `There is nothing at ${offset}: the page has ${text.length} characters.` });
  const end = Math.min(text.length, offset + maxPieceChars);
  const shown = neutralize(text.slice(offset, end).toWellFormed());
  const remarks = [
    ...(status >= 400 ? [`The server returned ${status}.`] : []),
    ...(offset > 0 || end < text.length ? [`Characters ${offset}-${end} of ${text.length}.`] : []),
    ...(end < text.length ? [`Continue with offset ${end}.`] : []),
  ];
  const heading = title ? `# ${escapeInvisibleLine(title)}\n\n` : '';
  return toolOutput({
    text: [
      wrapUntrusted(url, `${offset === 0 ? heading : ''}${shown || '(empty)'}`),
      ...(remarks.length ? [`[${remarks.join(' ')}]`] : []),
    ].join('\n'),
    failed: status >= 400,
    data: { url, status, type, title, from: offset, to: end, length: text.length },
  });
}
