// Everything a working folder's agent has beside its own tools, from all sources at once.
import { mergeExtensions } from '../../agent/index.ts';
import { loadSubagentTools } from './subagent-tools.ts';
import { loadCustomToolFiles } from './custom-tools.ts';
import type { Integration, IntegrationContext } from './context.ts';
import { loadHooks } from './hooks.ts';
import { loadLanguageServers } from './language-servers.ts';
import { loadOAuthLogin } from './oauth-login.ts';
import { loadMcpServers } from './mcp.ts';
import { loadAskUser } from './ask-user.ts';
import { loadRules } from './rules.ts';
import { loadWebSearch } from './web-search.ts';

export { noUser, type Integration, type IntegrationContext, type UserPrompter } from './context.ts';

/** What holds whatever tools there are. */
const guardSources = [loadRules, loadHooks];

const integrationSources = [
  ...guardSources,
  loadAskUser,
  loadWebSearch,
  loadOAuthLogin,
  loadLanguageServers,
  loadSubagentTools,
  loadCustomToolFiles,
  loadMcpServers,
];

/** The equipment of all sources, in the order that the tools are listed in; an agent that only runs code has none but its guards. */
export async function loadIntegrations(code: boolean, ground: IntegrationContext): Promise<Integration> {
  const all = await Promise.all((code ? guardSources : integrationSources).map((source) => source(ground)));
  const system = all.flatMap((each) => each.system ?? []).join('\n\n');
  const ears = all.find((each) => each.hooks)?.hooks;
  return {
    tools: all.flatMap(({ tools }) => tools),
    problems: all.flatMap(({ problems }) => problems),
    extension: mergeExtensions(all.map(({ extension = {} }) => extension)),
    ...(system ? { system } : {}),
    ...(ears ? { hooks: ears } : {}),
    wrapTool: (tool) => all.reduce((inner, { wrapTool }) => wrapTool?.(inner) ?? inner, tool),
    close: async () => void (await Promise.all(all.map((each) => each.close()))),
  };
}
