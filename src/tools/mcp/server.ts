// An MCP server as it was configured: how it is reached, whose word that is, and what a person approves of it.
import { hash } from 'node:crypto';
import type { OAuthClientProvider, Transport } from '@modelcontextprotocol/client';
import { FairleadError, canonicalJson, toJson } from '../../core/index.ts';

/** Set for every server that we start: one that is this very program opens no servers of its own, or there would be no end to it. */
export const INSIDE_MCP_VARIABLE = 'FAIRLEAD_INSIDE_MCP';

/** How we log in to a server that asks for it; all of it is found out by asking where it is absent. */
export type McpOAuthConfig = {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scope?: string;
  /** The only authorization server that may see the client's secret; without it the server that is logged in to names one. */
  readonly issuer?: string;
  /** False lets in an authorization server that does not call itself by its own address, as some of early 2025 do. */
  readonly checkIssuer?: boolean;
  /** The loopback port that the authorization server sends people back to; any free one unless given. */
  readonly callbackPort?: number;
  /** Where a description of this client can be read, for servers that know clients by it. */
  readonly clientMetadataUrl?: string;
  /** `client-credentials` logs in without a person. */
  readonly grant?: 'authorization-code' | 'client-credentials';
};

/** A server reached over the network. */
export type McpRemoteConfig = {
  readonly type: 'http' | 'sse' | 'ws';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly login?: McpOAuthConfig;
  /** A login of the caller's own, instead of the one described by `login`. */
  readonly auth?: OAuthClientProvider;
};

/** A server that we start, and talk to over its standard input and output. */
export type McpStdioConfig = {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** All it gets besides a short list of harmless variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
};

/** A server in this process, handed its end of a pair of transports. */
export type McpInProcessConfig = {
  readonly type: 'in-process';
  readonly serve: (transport: Transport) => Promise<void>;
};

/** A configured server. */
export type McpServer = {
  readonly name: string;
  /** `user` servers are the person's own; `project` servers come with a folder, `editor` servers with an editor, and both start only once approved. */
  readonly origin: 'user' | 'project' | 'editor';
  /** The file that names it. */
  readonly source: string;
  readonly transport: McpStdioConfig | McpRemoteConfig | McpInProcessConfig;
  /** Milliseconds that one call may take, or take without a sign of progress. */
  readonly timeoutMs?: number;
  /** Its word that a tool only reads is believed. */
  readonly trustReadOnly?: boolean;
  /** Whether its tools are loaded on demand; decided by their number unless given. */
  readonly onDemand?: boolean;
};

/** What is approved: a lasting name, and the hash of everything that decides what would be started or spoken to. */
export function approvalKey(server: McpServer): { readonly subject: string; readonly hash: string } {
  const { name, source, transport, trustReadOnly = false } = server;
  const content = { ...transport, auth: undefined, serve: undefined, trustReadOnly };
  return { subject: `mcp-server ${source} ${name}`, hash: hash('sha256', canonicalJson(toJson(content))) };
}

/** Whether an approval is about this server, as it is or as it ever was: the server itself, or one of its tools. */
export function isApprovalOf(server: McpServer, subject: string): boolean {
  const own = approvalKey(server).subject;
  return subject === own || subject.startsWith(`mcp-tool ${own} `);
}

/** The values with `${NAME}` and `${NAME:-otherwise}` filled in from the environment; a variable that is missing throws. */
export function expandVariables<T extends McpStdioConfig | McpRemoteConfig | McpInProcessConfig>(
  reach: T,
  environment: NodeJS.ProcessEnv,
  name: string,
): T {
  const fill = (text: string): string =>
    text.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (_all, variable: string, otherwise: string | undefined) => {
      const value = environment[variable] || otherwise;
      if (value !== undefined) return value;
      throw new FairleadError(
        'mcp/no-variable',
        `The MCP server ${name} needs the variable ${variable}, which is not set.`,
        { blame: 'user', hint: `Set ${variable}, or remove the server from its file.` },
      );
    });
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') return fill(value);
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, visit(each)]));
  };
  // A login of the caller's own is an object with a life: it is handed on as it is.
  const { auth, ...rest } = { auth: undefined, ...reach };
  return { ...(visit(rest) as T), ...(auth === undefined ? {} : { auth }) };
}
