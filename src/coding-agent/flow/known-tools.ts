// Lists the tools that are known in a directory without starting a server: those of MCP servers as they were last listed, with their declarations.
import type { Tool } from '../../core/index.ts';
import { collectDeclarations, type CollectedDeclarations } from '../../guards/flow/index.ts';
import { fileTrust } from '../../guards/index.ts';
import { openMcp, type McpServer } from '../../tools/mcp/index.ts';
import { defaultMcpOptions, readMcpServerConfig } from '../integrations/index.ts';
import type { Settings } from '../settings/index.ts';
import { readDeclarations } from './declaration-files.ts';

/** The declarations of a directory, its MCP servers, and those whose tools are not known. */
export type KnownTools = {
  readonly declarations: CollectedDeclarations;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly servers: readonly McpServer[];
  /** Servers that were never started here, or that may not be started. */
  readonly unknownServers: readonly string[];
  readonly problems: readonly string[];
};

/** Reads what is known. Starts nothing and asks nothing. */
export async function listKnownTools(settings: Settings, cwd: string): Promise<KnownTools> {
  const trust = fileTrust(`${settings.dirs.state}/approved.json`);
  const { servers, problems } = readMcpServerConfig({ paths: { cwd, home: '', configDir: settings.dirs.config } });
  const options = defaultMcpOptions(settings, trust, cwd, () => {
    throw new Error('No server is started here.');
  });
  const mcp = await openMcp(servers, { ...options, statusOnly: true });
  const tools = new Map(mcp.tools.filter(({ hints }) => hints).map((tool) => [tool.name, tool]));
  const unknownServers = mcp.status().flatMap(({ server, tools: listed }) => (listed.length === 0 ? [server] : []));
  await mcp.close();
  const declarations = await collectDeclarations({ tools, declarations: readDeclarations(settings.dirs, cwd) });
  return { declarations, tools, servers, unknownServers, problems };
}
