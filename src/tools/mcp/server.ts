// The configuration of an MCP server: transport, origin, and what the user approves of it.
import { hash } from 'node:crypto';
import type { OAuthClientProvider, Transport } from '@modelcontextprotocol/client';
import { FairleadError, canonicalJson, toJson } from '../../core/index.ts';

/** Set for every server that we start: if it is this program, it opens no servers itself. Otherwise they would start each other endlessly. */
export const INSIDE_MCP_VARIABLE = 'FAIRLEAD_INSIDE_MCP';

/** How to log in to a server that requires it. Missing fields are discovered. */
export type McpOAuthConfig = {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scope?: string;
  /** The only authorization server that may receive the client secret. Without it, the MCP server names one. */
  readonly issuer?: string;
  /** False accepts an authorization server whose issuer differs from its URL, as with some servers of early 2025. */
  readonly checkIssuer?: boolean;
  /** The loopback port of the redirect URI. Default: any free port. */
  readonly callbackPort?: number;
  /** The URL of a client metadata document, for servers that support it. */
  readonly clientMetadataUrl?: string;
  /** `client-credentials` logs in without a user. */
  readonly grant?: 'authorization-code' | 'client-credentials';
};

/** A server reached over the network. */
export type McpRemoteConfig = {
  readonly type: 'http' | 'sse' | 'ws';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly login?: McpOAuthConfig;
  /** A custom auth provider, instead of the one described by `oauth`. */
  readonly auth?: OAuthClientProvider;
};

/** A local server that we start, over stdin and stdout. */
export type McpStdioConfig = {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** All variables it receives besides the allowed ones. */
  readonly env: Readonly<Record<string, string>>;
  /** The folder in which it starts; `.` is the `cwd` of the options. */
  readonly cwd?: string;
};

/** A server in this process, over a pair of transports. */
export type McpInProcessConfig = {
  readonly type: 'in-process';
  readonly serve: (transport: Transport) => Promise<void>;
};

/** A configured server. */
export type McpServer = {
  readonly name: string;
  /** `user` servers belong to the user; `project` servers come with a folder and `editor` servers with an editor, and both start only after approval. */
  readonly origin: 'user' | 'project' | 'editor';
  /** The file that configures it. */
  readonly source: string;
  readonly transport: McpStdioConfig | McpRemoteConfig | McpInProcessConfig;
  /** Milliseconds that one call may take, or take without progress. */
  readonly timeoutMs?: number;
  /** If true, all its hints are trusted: that a tool is read-only, and the labels of its tools and results. Otherwise they only raise distrust and secrecy. */
  readonly trust?: boolean;
  /** If true, its claim that a tool is read-only is trusted. */
  readonly trustReadOnly?: boolean;
  /** Whether its tools are deferred. Default: depends on their number. */
  readonly onDemand?: boolean;
  /** The files of the working folder that it runs outside the sandbox, with their hashes; an empty hash is a file that does not exist. The approval covers them. */
  readonly files?: readonly { readonly path: string; readonly hash: string }[];
};

/** Whether the user must approve a server: all servers of a project or an editor, and those of the user that run files of the working folder. */
export const mustApproveServer = ({ origin, files = [] }: McpServer): boolean =>
  origin !== 'user' || files.some(({ hash: found }) => found !== '');

/** Returns what is approved: a stable name, and the hash of everything that decides what is started or contacted. */
export function approvalKey(server: McpServer): { readonly subject: string; readonly hash: string } {
  const { name, source, origin, transport, trust, trustReadOnly = false } = server;
  const files = server.files?.filter(({ hash: found }) => found !== '') ?? [];
  // A server of a project that runs outside the sandbox is another one than the same in the sandbox.
  const bound = files.length > 0 || (origin === 'project' && server.files) ? { files } : {};
  const content = {
    ...transport,
    auth: undefined,
    serve: undefined,
    trustReadOnly,
    ...(trust ? { trust } : {}),
    ...bound,
  };
  return { subject: `mcp-server ${source} ${name}`, hash: hash('sha256', canonicalJson(toJson(content))) };
}

/** Returns true if an approval belongs to this server, in its present or any earlier form: the server itself, or one of its tools. */
export function isApprovalOf(server: McpServer, subject: string): boolean {
  const own = approvalKey(server).subject;
  return subject === own || subject.startsWith(`mcp-tool ${own} `);
}

/** Replaces `${NAME}` and `${NAME:-default}` by environment variables. Throws if a variable is missing. */
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
  // A custom auth provider is a live object, which is passed on unchanged.
  const { auth, ...rest } = { auth: undefined, ...reach };
  return { ...(visit(rest) as T), ...(auth === undefined ? {} : { auth }) };
}
