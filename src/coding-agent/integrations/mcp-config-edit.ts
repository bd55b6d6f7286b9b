// Adds MCP servers to the configuration file of the user or of a project, and removes them.
import { chmodSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isObject, type Json, type JsonObject } from '../../core/index.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/index.ts';
import { parseMcpConfig } from '../../tools/mcp/index.ts';

/** Where a server is configured: for the user in every folder, or in the project's `.mcp.json`. */
export type McpScope = 'user' | 'project';

/** A server to add: a program with its arguments, or a URL. */
export type McpServerEntry = {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly type?: 'http' | 'sse' | 'ws';
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The configuration file of a scope. */
export const getMcpConfigFile = (scope: McpScope, dirs: { readonly config: string; readonly cwd: string }): string =>
  scope === 'user' ? path.join(dirs.config, 'mcp.json') : path.join(dirs.cwd, '.mcp.json');

/** Adds a server to a configuration file. Throws if the name is taken or the server could not be read back; the file is then unchanged. */
export function addMcpServer(file: string, scope: McpScope, name: string, entry: McpServerEntry): void {
  const config = readMcpFile(file);
  const servers = getServers(config);
  if (Object.hasOwn(servers, name))
    throw editError(
      `There is already an MCP server "${name}" in ${file}.`,
      `Remove it first: fairlead mcp remove ${name}`,
    );
  const next = JSON.stringify({ ...config, mcpServers: { ...servers, [name]: entry as Json } }, null, 2);
  const { problems } = parseMcpConfig(JSON.stringify({ mcpServers: { [name]: entry } }), { file, origin: scope });
  if (problems.length > 0) throw editError(problems.join(' '));
  writeMcpFile(file, scope, next);
}

/** Removes a server from a configuration file; returns false if it is not there. */
export function removeMcpServer(file: string, scope: McpScope, name: string): boolean {
  const config = readMcpFile(file);
  const { [name]: removed, ...rest } = getServers(config);
  if (removed === undefined) return false;
  writeMcpFile(file, scope, JSON.stringify({ ...config, mcpServers: rest }, null, 2));
  return true;
}

/** Writes the file: that of the user is private, because headers and variables may hold keys; that of a project is shared. */
export function writeMcpFile(file: string, scope: McpScope, text: string): void {
  writeTextAtomic(file, `${text}\n`);
  if (scope === 'project') chmodSync(file, 0o644);
}

/** Reads a configuration file; empty if there is none. Throws if it is not a JSON object. */
export function readMcpFile(file: string): JsonObject {
  const text = readTextIfExists(file);
  if (text === undefined || text.trim() === '') return {};
  try {
    const value = JSON.parse(text) as unknown;
    if (isObject(value)) return value as JsonObject;
  } catch {
    // Reported below.
  }
  throw editError(`${file} is not a JSON object, so it was not changed.`);
}

const getServers = (config: JsonObject): JsonObject => (isObject(config['mcpServers']) ? config['mcpServers'] : {});

const editError = (message: string, hint?: string): FairleadError =>
  new FairleadError('coding-agent/mcp-config', message, { blame: 'user', ...(hint === undefined ? {} : { hint }) });
