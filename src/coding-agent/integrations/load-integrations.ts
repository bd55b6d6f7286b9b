// Loads all integrations of a working directory: rules, hooks, web search, logins, language servers, sub-agents, custom tools and MCP servers.
import { existsSync } from 'node:fs';
import { mergeExtensions } from '../../agent/index.ts';
import { loadAskUser } from './ask-user.ts';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';
import { loadCustomToolFiles } from './custom-tools.ts';
import { loadHooks } from './hooks.ts';
import { loadLanguageServers } from './language-servers.ts';
import { loadOAuthLogin } from './oauth-login.ts';
import { loadRules } from './rules.ts';
import { loadSubagentTools } from './subagent-tools.ts';
import { loadWebSearch } from './web-search.ts';

/** The guards, which an agent has whatever its tools are. */
const guardSources = [loadRules, loadHooks];

const integrationSources = [
  ...guardSources,
  loadAskUser,
  loadWebSearch,
  loadDocumentSearch,
  loadOAuthLogin,
  loadLanguageServers,
  loadSubagentTools,
  loadCustomToolFiles,
  loadMcpServers,
];

/** Loads all integrations; their order is the order of the tools. An agent that only runs code has only the guards. */
export async function loadIntegrations(codeOnly: boolean, context: IntegrationContext): Promise<Integration> {
  const all = await Promise.all((codeOnly ? guardSources : integrationSources).map((load) => load(context)));
  const system = all.flatMap((each) => each.system ?? []).join('\n\n');
  const hooks = all.find((each) => each.hooks)?.hooks;
  const agents = all.find((each) => each.agents)?.agents;
  return {
    tools: all.flatMap(({ tools }) => tools),
    problems: all.flatMap(({ problems }) => problems),
    ruleHashes: all.flatMap(({ ruleHashes = [] }) => ruleHashes),
    extension: mergeExtensions(all.map(({ extension = {} }) => extension)),
    ...(agents ? { agents } : {}),
    ...(system ? { system } : {}),
    ...(hooks ? { hooks } : {}),
    wrapTool: (tool) => all.reduce((inner, { wrapTool }) => wrapTool?.(inner) ?? inner, tool),
    close: async () => void (await Promise.all(all.map((each) => each.close()))),
  };
}

/** Loads MCP servers. If none is configured, no code of the protocol is loaded. */
async function loadMcpServers(context: IntegrationContext): Promise<Integration> {
  const { paths, mcpServers = [], startsServers = true } = context;
  if (!startsServers) return emptyIntegration;
  const files = [`${paths.configDir}/mcp.json`, `${paths.cwd}/.mcp.json`];
  if (mcpServers.length === 0 && !files.some((file) => existsSync(file))) return emptyIntegration;
  const { openMcpIntegration } = await import('./open-mcp.ts');
  return openMcpIntegration(context);
}

/** Loads the search of documents, if the user has indexed any. */
async function loadDocumentSearch(context: IntegrationContext): Promise<Integration> {
  if (!existsSync(`${context.settings.dirs.data}/indexes`)) return emptyIntegration;
  return (await import('./document-search.ts')).openDocumentSearch(context);
}
