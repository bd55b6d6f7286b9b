// A search of the web by the engine that the person has a key for.
import { errorMessage } from '../../core/index.ts';
import { createSearchEngine, webSearch, type SearchSettings } from '../../tools/index.ts';
import { withNetwork } from '../../workspace/index.ts';
import type { Settings } from '../settings/index.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** The tool that searches the web; none where no engine is set up. */
export async function loadWebSearch({ settings, sandboxedWorkspace }: IntegrationContext): Promise<Integration> {
  const wanted = getSearchSettings(settings);
  if (wanted === undefined) return emptyIntegration;
  try {
    const engine = createSearchEngine(wanted);
    // Who names an address of their own network means it; it is open to this tool alone.
    const own = wanted.url === undefined ? [] : [new URL(wanted.url).host];
    const workspace = withNetwork(sandboxedWorkspace, { privateHosts: [...settings.privateHosts, ...own] });
    return { ...emptyIntegration, tools: [{ ...webSearch(workspace, engine), deferred: true }] };
  } catch (error) {
    return { ...emptyIntegration, problems: [errorMessage(error)] };
  }
}

/** What is set up of searching: the engine that is named, or the first that has what it needs. */
export function getSearchSettings({ all }: Pick<Settings, 'all'>): SearchSettings | undefined {
  const text = (key: string): string | undefined => all.get(key)?.value as string | undefined;
  const engines = Object.entries(requiredSettings).map(([engine, needs]) => ({
    engine,
    given: Object.entries(needs).map(([what, key]) => [what, text(key)] as const),
  }));
  const named = text('search.engine');
  const found = engines.find(({ engine, given }) =>
    named === undefined ? given.every(([, value]) => value !== undefined) : engine === named,
  );
  if (!found) return undefined;
  // An address is for the engine that is named with it: a key must not go where another engine is.
  const other = named === undefined ? undefined : text('search.url');
  const own = Object.fromEntries(found.given.filter(([, value]) => value !== undefined));
  const wanted: SearchSettings = { engine: found.engine, ...own, ...(other === undefined ? {} : { url: other }) };
  return wanted.url === undefined ? wanted : { ...wanted, url: withScheme(wanted.url) };
}

/** The settings that an engine cannot do without, in the order that one is looked for. */
const requiredSettings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  brave: { key: 'keys.BRAVE_API_KEY' },
  tavily: { key: 'keys.TAVILY_API_KEY' },
  searxng: { url: 'search.searxng' },
  bing: { key: 'keys.BING_SEARCH_API_KEY' },
  google: { key: 'keys.GOOGLE_SEARCH_API_KEY', id: 'search.google' },
};

const withScheme = (url: string): string => (/^[a-z]+:\/\//i.test(url) ? url : `http://${url}`);
