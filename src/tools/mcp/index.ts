// MCP servers as a source of tools. Nothing of the protocol is loaded until there is a server to open.
import type { Mcp, McpOptions } from './open.ts';
import type { McpServer } from './server.ts';

export { parseMcpConfig, readMcpConfig, type McpConfig, type McpPlaces } from './config.ts';
export type { Connection } from './connection.ts';
export type { OpenUrl } from './oauth.ts';
export { rememberedIn, type Memory, type Remembered } from './memory.ts';
export type { Mcp, McpOptions } from './open.ts';
export type { Approvals } from './pins.ts';
export type { Answerers, Elicitation, ElicitationAnswer, Sampled, Sampling } from './requests.ts';
export { getPrompt, listPrompts, serversBehind, type McpPrompt, type Servers } from './resources.ts';
export {
  approvalKey,
  INSIDE,
  isAbout,
  type Inside,
  type Local,
  type Login,
  type McpServer,
  type Remote,
} from './server.ts';
export { describe, toolCount, type McpStatus } from './status.ts';
export { fileTokens, memoryTokens, type KeptLogin, type TokenStore } from './token-store.ts';
export type { ToolStanding } from './tools.ts';

/** Opens these servers and gives their tools. Where there are none, nothing is loaded. */
export async function openMcp(servers: readonly McpServer[], options: McpOptions): Promise<Mcp> {
  if (servers.length > 0) return (await import('./open.ts')).openServers(servers, options);
  return { tools: [], connections: [], status: () => [], approveTools: () => {}, close: () => Promise.resolve() };
}
