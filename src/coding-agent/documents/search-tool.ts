// The search_documents tool: searches the index of the working directory for the model. What it returns is untrusted text.
import { escapeInvisibleLine, neutralizeText, toolOutput, truncateMiddle, type Tool } from '../../core/index.ts';
import { updateBeforeSearch } from './open-index.ts';
import { formatSource, type DocumentIndex, type SearchHit } from '../../retrieval/index.ts';

const defaultHits = 5;
const maxHits = 20;
const maxShownChars = 1200;
/** An update before a search looks at every file; it is not repeated within this time. */
const updateIntervalMs = 10_000;

/** Creates the tool; the index is opened at the first call. */
export function createSearchTool(open: () => Promise<DocumentIndex>): Tool {
  let lastUpdate = Number.NEGATIVE_INFINITY;
  return {
    name: 'search_documents',
    description:
      'Search the indexed documents of this folder by words and meaning. Returns passages with file:lines and hash for citations. For an exact string use grep.',
    input: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, maxLength: 1000, description: 'Words or a question.' },
        limit: { type: 'integer', minimum: 1, maximum: maxHits },
      },
      required: ['query'],
      additionalProperties: false,
    },
    effect: 'read',
    untrustedOutput: true,
    deferred: true,
    timeoutMs: 120_000,
    async execute(input, { signal }) {
      const { query, limit = defaultHits } = input as { readonly query: string; readonly limit?: number };
      const index = await open();
      if (performance.now() - lastUpdate > updateIntervalMs) {
        await updateBeforeSearch(index, signal);
        lastUpdate = performance.now();
      }
      const { hits, notices } = await index.search(query, { limit, signal });
      const found = hits.length === 0 ? ['No passage matches.'] : hits.map(formatHit);
      return toolOutput({
        text: [...found, ...notices.map((each) => `[${each}]`)].join('\n\n'),
        data: { hits: hits.length },
      });
    },
  };
}

const formatHit = ({ source, title, text, rank }: SearchHit): string =>
  `[${rank}] ${escapeInvisibleLine(formatSource(source))}${title === '' ? '' : `\n${escapeInvisibleLine(title)}`}\n${truncateMiddle(neutralizeText(text), maxShownChars)}`;
