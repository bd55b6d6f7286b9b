// Creates the web search tool of a search engine. It is loaded only if the user has configured an engine.
import { errorMessage, type Workspace } from '../../core/index.ts';
import { createSearchEngine, webSearch, type SearchSettings } from '../../tools/index.ts';
import { withNetwork } from '../../workspace/index.ts';
import type { Settings } from '../settings/index.ts';
import { emptyIntegration, type Integration } from './context.ts';

/** The tool, or the problem of its settings. */
export function createWebSearch(
  search: SearchSettings,
  { privateHosts }: Pick<Settings, 'privateHosts'>,
  sandboxedWorkspace: Workspace,
): Integration {
  try {
    const engine = createSearchEngine(search);
    // The engine may be on a private network; only this tool may reach it there.
    const hosts = search.url === undefined ? [] : [new URL(search.url).host];
    const workspace = withNetwork(sandboxedWorkspace, { privateHosts: [...privateHosts, ...hosts] });
    return { ...emptyIntegration, tools: [{ ...webSearch(workspace, engine), deferred: true }] };
  } catch (error) {
    return { ...emptyIntegration, problems: [errorMessage(error)] };
  }
}
