// MCP servers as a source of tools: those of the person and, once approved, of the project and of an editor.
import { existsSync } from 'node:fs';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** MCP servers as a source of tools. Where none is named, two looks at the disk are all it costs. */
export async function loadMcpServers(ground: IntegrationContext): Promise<Integration> {
  const { paths, mcpServers = [] } = ground;
  const named = [`${paths.configDir}/mcp.json`, `${paths.cwd}/.mcp.json`].some((file) => existsSync(file));
  if (!named && mcpServers.length === 0) return emptyIntegration;
  const { openMcpIntegration } = await import('./open-mcp.ts');
  return openMcpIntegration(ground);
}
