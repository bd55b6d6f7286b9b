// The web_search tool: searches with the configured engine. Results are untrusted text.
import {
  FairleadError,
  toolOutput,
  wrapUntrusted,
  escapeInvisibleLine,
  type FetchResult,
  type Tool,
  type Workspace,
} from '../../core/index.ts';
import { fetchViaWorkspace } from './fetch.ts';
import type { SearchEngine } from './search-engines.ts';

const defaultHits = 8;
const maxHits = 20;
const maxHitChars = 500;

/** Creates the web_search tool. */
export const webSearch = (workspace: Workspace, engine: SearchEngine): Tool => ({
  name: 'web_search',
  description: 'Search the web. Returns titles, URLs and excerpts of the pages found.',
  input: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, maxLength: 400 },
      count: { type: 'integer', minimum: 1, maximum: maxHits, description: `${defaultHits} unless given.` },
    },
    required: ['query'],
    additionalProperties: false,
  },
  effect: 'external',
  untrustedOutput: true,
  idempotent: true,
  async execute(input, { signal }) {
    const { query, count = defaultHits } = input as { query: string; count?: number };
    const fetched = await fetchViaWorkspace(workspace, engine.request(query, count), signal);
    const hits = engine.parseHits(parseEngineResponse(fetched, engine)).slice(0, count);
    if (hits.length === 0) return toolOutput({ text: `${engine.name} found nothing for this.`, data: { hits } });
    const { neutralizeText } = await import('./shown-text.ts');
    const lines = hits.map(
      ({ title, url, text }, i) =>
        `${i + 1}. ${escapeInvisibleLine(neutralizeText(title || url))}\n   ${escapeInvisibleLine(url)}${text ? `\n   ${escapeInvisibleLine(neutralizeText(text)).slice(0, maxHitChars)}` : ''}`,
    );
    return toolOutput({ text: wrapUntrusted(`a search with ${engine.name}`, lines.join('\n')), data: { hits } });
  },
});

/** Parses the response of an engine. Of an error only the status is reported, because the body may repeat the request. */
function parseEngineResponse({ status, body }: FetchResult, { name }: SearchEngine): unknown {
  const why =
    status === 401 || status === 403
      ? 'rejected its key; the user must check the settings'
      : status === 429
        ? 'was used too often; wait, or continue without it'
        : status >= 300
          ? `returned status ${status}`
          : undefined;
  if (why !== undefined) throw engineError(name, why);
  try {
    return JSON.parse(Buffer.from(body).toString()) as unknown;
  } catch {
    throw engineError(name, 'returned something that is not JSON');
  }
}

const engineError = (name: string, why: string): FairleadError =>
  new FairleadError('search/failed', `${name} ${why}.`, { blame: 'tool' });
