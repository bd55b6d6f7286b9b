// The public names of the MCP server: offers the tools of a folder, and whole runs, to MCP clients.
export { loadOrCreateToken } from '../token-file.ts';
export { listenMcpHttp, type McpHttpServer } from './http.ts';
export { createMcpServer, type McpServerHandle, type McpServerHost } from './server.ts';
