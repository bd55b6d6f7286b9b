// Adapters for search engines: their requests, and where the results are in their responses.
import { FairleadError, isObject, trimEndChars, type FetchRequest } from '../../core/index.ts';

/** A search result. */
export type SearchHit = { readonly title: string; readonly url: string; readonly text: string };

/** A search engine. Its key is sent in a header, never in a URL, so that no error and no redirect can leak it. */
export type SearchEngine = {
  readonly name: string;
  request(query: string, count: number): FetchRequest;
  parseHits(answer: unknown): readonly SearchHit[];
};

/** How an engine is reached. */
export type SearchEngineOptions = {
  readonly key: string;
  /** Default: the URL of the engine. */
  readonly url?: string;
};

const jsonHeaders = { accept: 'application/json' };

/** Returns a URL with these query parameters. */
function withQuery(url: string, query: Readonly<Record<string, string>>): string {
  const requestUrl = new URL(url);
  for (const [name, value] of Object.entries(query)) requestUrl.searchParams.set(name, value);
  return requestUrl.href;
}

/** Returns the results at this path of a response, by the field names of this engine. */
function parseHitsAt(
  answer: unknown,
  place: readonly string[],
  names: readonly [string, string, string],
): readonly SearchHit[] {
  const found = place.reduce<unknown>((inside, key) => (isObject(inside) ? inside[key] : undefined), answer);
  return (Array.isArray(found) ? found : []).flatMap((item: unknown): readonly SearchHit[] => {
    const [title, url, text] = names.map((name) => (isObject(item) ? item[name] : undefined));
    return typeof url === 'string' ? [{ title: stripHighlights(title), url, text: stripHighlights(text) }] : [];
  });
}

/** Some engines highlight matches with HTML. */
const stripHighlights = (value: unknown): string =>
  typeof value === 'string'
    ? value
        .replaceAll(/<\/?(?:strong|b|em)>/gi, '')
        .replaceAll(/\s+/g, ' ')
        .trim()
    : '';

/** The search engine of Brave Search. */
export const braveSearch = ({
  key,
  url = 'https://api.search.brave.com/res/v1/web/search',
}: SearchEngineOptions): SearchEngine => ({
  name: 'Brave',
  request: (q, count) => ({
    url: withQuery(url, { q, count: `${count}` }),
    headers: { ...jsonHeaders, 'X-Subscription-Token': key },
  }),
  parseHits: (answer) => parseHitsAt(answer, ['web', 'results'], ['title', 'url', 'description']),
});

/** Tavily, a search engine for agents. */
export const tavilySearch = ({ key, url = 'https://api.tavily.com/search' }: SearchEngineOptions): SearchEngine => ({
  name: 'Tavily',
  request: (query, count) => ({
    url,
    method: 'POST',
    headers: { ...jsonHeaders, 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ query, max_results: count }),
  }),
  parseHits: (answer) => parseHitsAt(answer, ['results'], ['title', 'url', 'content']),
});

/** A SearXNG instance, which needs a URL and no key. */
export const searxngSearch = ({ url }: { readonly url: string }): SearchEngine => ({
  name: 'SearXNG',
  request: (q) => ({
    url: withQuery(`${trimEndChars(url, '/')}/search`, { q, format: 'json' }),
    headers: jsonHeaders,
  }),
  parseHits: (answer) => parseHitsAt(answer, ['results'], ['title', 'url', 'content']),
});

/** Bing Web Search. */
export const bingSearch = ({
  key,
  url = 'https://api.bing.microsoft.com/v7.0/search',
}: SearchEngineOptions): SearchEngine => ({
  name: 'Bing',
  request: (q, count) => ({
    url: withQuery(url, { q, count: `${count}` }),
    headers: { ...jsonHeaders, 'Ocp-Apim-Subscription-Key': key },
  }),
  parseHits: (answer) => parseHitsAt(answer, ['webPages', 'value'], ['name', 'url', 'snippet']),
});

/** Google's Programmable Search Engine; `engine` is its id. */
export const googleSearch = ({
  key,
  engine,
  url = 'https://www.googleapis.com/customsearch/v1',
}: SearchEngineOptions & { readonly engine: string }): SearchEngine => ({
  name: 'Google',
  request: (q, count) => ({
    url: withQuery(url, { q, cx: engine, num: `${Math.min(count, 10)}` }),
    headers: { ...jsonHeaders, 'X-Goog-Api-Key': key },
  }),
  parseHits: (answer) => parseHitsAt(answer, ['items'], ['title', 'link', 'snippet']),
});

/** The search settings of the user. */
export type SearchSettings = {
  /** brave, tavily, searxng, bing or google. */
  readonly engine: string;
  readonly key?: string;
  readonly url?: string;
  /** The id of a Google search engine. */
  readonly id?: string;
};

/** Creates the engine of the settings. Throws if it is unknown or a setting is missing. */
export function createSearchEngine({ engine, key, url, id }: SearchSettings): SearchEngine {
  const need = (value: string | undefined, what: string): string => {
    if (value) return value;
    throw unusableEngineError(`The search engine ${engine} needs ${what}.`);
  };
  const own = url === undefined ? {} : { url };
  if (engine === 'brave') return braveSearch({ key: need(key, 'a key'), ...own });
  if (engine === 'tavily') return tavilySearch({ key: need(key, 'a key'), ...own });
  if (engine === 'bing') return bingSearch({ key: need(key, 'a key'), ...own });
  if (engine === 'google')
    return googleSearch({ key: need(key, 'a key'), engine: need(id, 'the id of an engine'), ...own });
  if (engine === 'searxng') return searxngSearch({ url: need(url, 'an address') });
  throw unusableEngineError(`There is no search engine ${engine}; there are brave, tavily, searxng, bing and google.`);
}

const unusableEngineError = (sentence: string): FairleadError =>
  new FairleadError('search/unusable', sentence, { blame: 'user' });
