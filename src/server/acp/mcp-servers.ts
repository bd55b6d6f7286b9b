// The MCP servers that an editor names for a session, in either version of the protocol, as servers that we can open.
import { isObject, toJson, type Json } from '../../core/index.ts';
import { parseMcpConfig, type McpConfig } from '../../tools/mcp/index.ts';

/** The servers that were named, and a sentence for each that cannot be used. */
export function parseEditorMcpServers(named: readonly unknown[] | null | undefined): McpConfig {
  const entries = (named ?? []).flatMap((each) =>
    isObject(each) && typeof each['name'] === 'string' ? [[each['name'], toConfigEntry(each)]] : [],
  );
  const text = JSON.stringify({ mcpServers: toJson(Object.fromEntries(entries)) });
  const { servers, problems } = parseMcpConfig(text, { file: 'The editor', origin: 'editor' });
  // What was approved counts for the server of this name, whichever folder the editor is in.
  return { servers: servers.map((server) => ({ ...server, source: 'editor' })), problems };
}

/** A server as a file would name it; kinds that only later versions know are refused like those that nobody can read. */
function toConfigEntry({ type, command, args = [], env, url, headers }: Readonly<Record<string, unknown>>): unknown {
  if (command !== undefined) return { type: type ?? 'stdio', command, args, env: toRecord(env) };
  return { type: type ?? 'unknown', url, headers: toRecord(headers) };
}

/** Pairs of names and values as an object. */
const toRecord = (pairs: unknown): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    (Array.isArray(pairs) ? pairs : []).map((each: unknown) =>
      isObject(each) ? [String(each['name']), toJson(each['value'])] : ['', null],
    ),
  );
