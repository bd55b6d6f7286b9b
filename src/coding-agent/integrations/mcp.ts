// MCP servers as a source of tools: those of the person and, once approved, of the project and of an editor.
import { existsSync } from 'node:fs';
import { emptyIntegration, type Integration, type IntegrationContext } from './context.ts';

/** MCP servers as a source of tools. Where none is named, two looks at the disk are all it costs. */
export async function loadMcpServers(ground: IntegrationContext): Promise<Integration> {
  const { paths: places, mcpServers: servers = [] } = ground;
  const named = [`${places.configDir}/mcp.json`, `${places.cwd}/.mcp.json`].some((file) => existsSync(file));
  if (!named && servers.length === 0) return emptyIntegration;
  const { openMcpIntegration: openMcpEquipment } = await import('./open-mcp.ts');
  return openMcpEquipment(ground);
}
