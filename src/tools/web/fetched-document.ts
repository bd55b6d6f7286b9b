// Fetches a document for web_fetch and formats its parts: a page is converted to Markdown, and hidden text is removed or shown.
import {
  FairleadError,
  errorMessage,
  escapeInvisibleLine,
  neutralizeText,
  toolOutput,
  wrapUntrusted,
  type ToolOutput,
  type Workspace,
} from '../../core/index.ts';
import { fetchViaWorkspace, decodeBodyText, contentType } from './fetch.ts';

const maxPieceChars = 20_000;
/** Longer pages are truncated before they are parsed. */
const maxHtmlChars = 3_000_000;

/** A document as it was fetched. */
export type FetchedDocument = {
  readonly url: string;
  readonly status: number;
  readonly type: string;
  readonly title: string;
  readonly text: string;
};

/** Fetches a document and makes it readable. */
export async function fetchDocument(workspace: Workspace, url: string, signal: AbortSignal): Promise<FetchedDocument> {
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
  if (!isHtml) return { ...source, title: '', text: neutralizeText(fetched.truncated ? `${text}\n(cut here)` : text) };
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

/** Formats a part of a document for the model. */
export function pieceOutput({ url, status, type, title, text }: FetchedDocument, offset: number): ToolOutput {
  if (offset > 0 && offset >= text.length)
    return toolOutput({ failed: true, text: `There is nothing at ${offset}: the page has ${text.length} characters.` });
  const end = Math.min(text.length, offset + maxPieceChars);
  const shown = neutralizeText(text.slice(offset, end).toWellFormed(), { isRendered: true });
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
