// Public API of MCP clients. The protocol library is loaded only if there is a server to open.
import type { McpClients, McpOptions } from './open.ts';
import type { McpServer } from './server.ts';

export { parseMcpConfig, readMcpConfig, type McpConfig, type McpConfigPaths } from './config.ts';
export type { McpConnection } from './connection.ts';
export type { McpNetwork } from './mcp-fetch.ts';
export type { OpenUrl } from './oauth.ts';
export { parseCachedServer, type McpToolCache, type CachedMcpServer } from './tool-cache.ts';
export type { McpClients, McpOptions } from './open.ts';
export type { McpApprovals } from './definition-pins.ts';
export type {
  McpClientHandlers,
  Elicitation,
  ElicitationResult,
  SamplingResult,
  SamplingRequest,
} from './client-handlers.ts';
export { getMcpPrompt, listMcpPrompts, getMcpServers, type McpPrompt, type McpServerList } from './resources.ts';
export {
  approvalKey,
  INSIDE_MCP_VARIABLE,
  expandVariables,
  isApprovalOf,
  mustApproveServer,
  type McpInProcessConfig,
  type McpStdioConfig,
  type McpOAuthConfig,
  type McpServer,
  type McpRemoteConfig,
} from './server.ts';
export { formatMcpStatus, formatToolCount, type McpStatus } from './status.ts';
export { fileMcpTokens, memoryMcpTokens, type StoredMcpLogin, type McpTokenStore } from './token-store.ts';
export type { McpToolStatus } from './tools.ts';
export type { McpLaunch } from './transport.ts';

/** Opens these servers and returns their tools. Without servers nothing is loaded. */
export async function openMcp(servers: readonly McpServer[], options: McpOptions): Promise<McpClients> {
  if (servers.length > 0) return (await import('./open.ts')).openMcpServers(servers, options);
  return { tools: [], connections: [], status: () => [], approveTools: () => {}, close: () => Promise.resolve() };
}
export { parseFlowLabels, serverNames } from './flow-hints.ts';
