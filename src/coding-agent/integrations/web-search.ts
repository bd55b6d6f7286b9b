// The web search tool, with the search engine that the user has configured.
import type { SearchSettings } from '../../tools/index.ts';
import type { Settings } from '../settings/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** Loads the web search tool; there is none if no engine is configured. */
export async function loadWebSearch({ settings, sandboxedWorkspace }: IntegrationContext): Promise<Integration> {
  const search = getSearchSettings(settings);
  if (search === undefined) return emptyIntegration;
  const { createWebSearch } = await import('./create-web-search.ts');
  return createWebSearch(search, settings, sandboxedWorkspace);
}

/** The search engine that the user named, or the first one whose required settings exist. */
export function getSearchSettings({ all }: Pick<Settings, 'all'>): SearchSettings | undefined {
  const text = (key: string): string | undefined => all.get(key)?.value as string | undefined;
  const engines = Object.entries(requiredSettings).map(([engine, needs]) => ({
    engine,
    values: Object.entries(needs).map(([name, key]) => [name, text(key)] as const),
  }));
  const named = text('search.engine');
  const found = engines.find(({ engine, values }) =>
    named === undefined ? values.every(([, value]) => value !== undefined) : engine === named,
  );
  if (!found) return undefined;
  // A URL is used only with a named engine: a key must not be sent to another engine.
  const url = named === undefined ? undefined : text('search.url');
  const own = Object.fromEntries(found.values.filter(([, value]) => value !== undefined));
  const search: SearchSettings = { engine: found.engine, ...own, ...(url === undefined ? {} : { url }) };
  return search.url === undefined ? search : { ...search, url: withScheme(search.url) };
}

/** The required settings of each engine, in the order in which an engine is chosen. */
const requiredSettings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  brave: { key: 'keys.BRAVE_API_KEY' },
  tavily: { key: 'keys.TAVILY_API_KEY' },
  searxng: { url: 'search.searxng' },
  bing: { key: 'keys.BING_SEARCH_API_KEY' },
  google: { key: 'keys.GOOGLE_SEARCH_API_KEY', id: 'search.google' },
};

const withScheme = (url: string): string => (/^[a-z]+:\/\//i.test(url) ? url : `http://${url}`);
