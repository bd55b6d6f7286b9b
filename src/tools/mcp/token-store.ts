// What is kept of a login to an MCP server, in a store that only its owner can read.
import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { fileLogins, memoryLogins, type LoginStore } from '../oauth/login-store.ts';

/** What is kept of one login: who we are there, our tokens, and the port that people come back to. */
export type StoredMcpLogin = {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  readonly port?: number;
};

/** Logins by the address of their server. */
export type McpTokenStore = Pick<LoginStore<StoredMcpLogin>, 'get' | 'set'>;

/** Logins of this process alone. */
export const memoryMcpTokens = (): McpTokenStore => memoryLogins<StoredMcpLogin>();

/** Logins in a file. */
export const fileMcpTokens = (file: string): McpTokenStore => fileLogins<StoredMcpLogin>(file);
