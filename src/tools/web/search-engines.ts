// Search engines behind one shape: what each is asked, and where in its answer the results are.
import { FairleadError, isObject, type FetchRequest } from '../../core/index.ts';

/** A page that was found. */
export type Hit = { readonly title: string; readonly url: string; readonly text: string };

/** A search engine. Its key goes into a header, never into a URL, so that no error and no redirect can carry it. */
export type SearchEngine = {
  readonly name: string;
  request(query: string, count: number): FetchRequest;
  hits(answer: unknown): readonly Hit[];
};

/** How an engine is reached. */
export type EngineOptions = {
  readonly key: string;
  /** Its own address unless given. */
  readonly url?: string;
};

const json = { accept: 'application/json' };

/** A URL with these words in its query. */
function asking(url: string, query: Readonly<Record<string, string>>): string {
  const whole = new URL(url);
  for (const [name, value] of Object.entries(query)) whole.searchParams.set(name, value);
  return whole.href;
}

/** The list at this place of an answer, each item a hit by the names that this engine uses. */
function hitsAt(answer: unknown, place: readonly string[], names: readonly [string, string, string]): readonly Hit[] {
  const found = place.reduce<unknown>((inside, key) => (isObject(inside) ? inside[key] : undefined), answer);
  return (Array.isArray(found) ? found : []).flatMap((item: unknown): readonly Hit[] => {
    const [title, url, text] = names.map((name) => (isObject(item) ? item[name] : undefined));
    return typeof url === 'string' ? [{ title: wordsIn(title), url, text: wordsIn(text) }] : [];
  });
}

/** Some engines mark the words that were found in HTML. */
const wordsIn = (value: unknown): string =>
  typeof value === 'string'
    ? value
        .replaceAll(/<\/?(?:strong|b|em)>/gi, '')
        .replaceAll(/\s+/g, ' ')
        .trim()
    : '';

/** The engine of Brave Search. */
export const brave = ({
  key,
  url = 'https://api.search.brave.com/res/v1/web/search',
}: EngineOptions): SearchEngine => ({
  name: 'Brave',
  request: (q, count) => ({
    url: asking(url, { q, count: `${count}` }),
    headers: { ...json, 'X-Subscription-Token': key },
  }),
  hits: (answer) => hitsAt(answer, ['web', 'results'], ['title', 'url', 'description']),
});

/** The engine of Tavily, made for agents. */
export const tavily = ({ key, url = 'https://api.tavily.com/search' }: EngineOptions): SearchEngine => ({
  name: 'Tavily',
  request: (query, count) => ({
    url,
    method: 'POST',
    headers: { ...json, 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ query, max_results: count }),
  }),
  hits: (answer) => hitsAt(answer, ['results'], ['title', 'url', 'content']),
});

/** A SearXNG of one's own, which needs no key but an address. */
export const searxng = ({ url }: { readonly url: string }): SearchEngine => ({
  name: 'SearXNG',
  request: (q) => ({ url: asking(`${url.replace(/\/+$/, '')}/search`, { q, format: 'json' }), headers: json }),
  hits: (answer) => hitsAt(answer, ['results'], ['title', 'url', 'content']),
});

/** Bing Web Search. */
export const bing = ({ key, url = 'https://api.bing.microsoft.com/v7.0/search' }: EngineOptions): SearchEngine => ({
  name: 'Bing',
  request: (q, count) => ({
    url: asking(url, { q, count: `${count}` }),
    headers: { ...json, 'Ocp-Apim-Subscription-Key': key },
  }),
  hits: (answer) => hitsAt(answer, ['webPages', 'value'], ['name', 'url', 'snippet']),
});

/** Google's Programmable Search Engine; `engine` is its id. */
export const google = ({
  key,
  engine,
  url = 'https://www.googleapis.com/customsearch/v1',
}: EngineOptions & { readonly engine: string }): SearchEngine => ({
  name: 'Google',
  request: (q, count) => ({
    url: asking(url, { q, cx: engine, num: `${Math.min(count, 10)}` }),
    headers: { ...json, 'X-Goog-Api-Key': key },
  }),
  hits: (answer) => hitsAt(answer, ['items'], ['title', 'link', 'snippet']),
});

/** What a person's settings say about searching. */
export type SearchSettings = {
  /** brave, tavily, searxng, bing or google. */
  readonly engine: string;
  readonly key?: string;
  readonly url?: string;
  /** The id of a Google search engine. */
  readonly id?: string;
};

/** The engine that settings name; one that is not known, or lacks what it needs, is refused with a sentence. */
export function searchEngine({ engine, key, url, id }: SearchSettings): SearchEngine {
  const need = (value: string | undefined, what: string): string => {
    if (value) return value;
    throw unusable(`The search engine ${engine} needs ${what}.`);
  };
  const own = url === undefined ? {} : { url };
  if (engine === 'brave') return brave({ key: need(key, 'a key'), ...own });
  if (engine === 'tavily') return tavily({ key: need(key, 'a key'), ...own });
  if (engine === 'bing') return bing({ key: need(key, 'a key'), ...own });
  if (engine === 'google') return google({ key: need(key, 'a key'), engine: need(id, 'the id of an engine'), ...own });
  if (engine === 'searxng') return searxng({ url: need(url, 'an address') });
  throw unusable(`There is no search engine ${engine}; there are brave, tavily, searxng, bing and google.`);
}

const unusable = (sentence: string): FairleadError => new FairleadError('search/unusable', sentence, { blame: 'user' });
