// Parses the MCP servers that an editor passes with a session.
import { isObject, toJson, type Json } from '../../core/index.ts';
import { parseMcpConfig, type McpConfig } from '../../tools/mcp/index.ts';

/** Returns the usable servers, and a sentence for each unusable one. */
export function parseEditorMcpServers(named: readonly unknown[] | null | undefined): McpConfig {
  const entries = (named ?? []).flatMap((each) =>
    isObject(each) && typeof each['name'] === 'string' ? [[each['name'], toConfigEntry(each)]] : [],
  );
  const text = JSON.stringify({ mcpServers: toJson(Object.fromEntries(entries)) });
  const { servers, problems } = parseMcpConfig(text, { file: 'The editor', origin: 'editor' });
  // An approval applies to the server name, independent of the working directory.
  return { servers: servers.map((server) => ({ ...server, source: 'editor' })), problems };
}

/** Parses one server; unknown transports are rejected. */
function toConfigEntry({ type, command, args = [], env, url, headers }: Readonly<Record<string, unknown>>): unknown {
  if (command !== undefined) return { type: type ?? 'stdio', command, args, env: toRecord(env) };
  return { type: type ?? 'unknown', url, headers: toRecord(headers) };
}

/** Converts name/value pairs to an object. */
const toRecord = (pairs: unknown): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    (Array.isArray(pairs) ? pairs : []).map((each: unknown) =>
      isObject(each) ? [String(each['name']), toJson(each['value'])] : ['', null],
    ),
  );
