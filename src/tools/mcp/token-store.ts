// Stores logins to MCP servers, readable by their owner only.
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { fileLogins, memoryLogins, type LoginStore } from '../oauth/login-store.ts';

/** A stored login: the client registration, the tokens, and the redirect port. */
export type StoredMcpLogin = {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  readonly port?: number;
};

/** Logins by server URL. */
export type McpTokenStore = Pick<LoginStore<StoredMcpLogin>, 'get' | 'set'>;

/** Creates a token store in memory. */
export const memoryMcpTokens = (): McpTokenStore => memoryLogins<StoredMcpLogin>();

/** Creates a token store in a file. */
export const fileMcpTokens = (file: string): McpTokenStore => fileLogins<StoredMcpLogin>(file);
