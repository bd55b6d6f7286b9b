// The tools of MCP servers that the user switched off: `"toolsOff": {"<server>": ["<tool>"]}` in the user's own mcp.json.
import path from 'node:path';
import { escapeInvisibleLine, isObject, type Json, type JsonObject } from '../../core/index.ts';
import { readTextIfExists } from '../../stores/index.ts';
import type { McpServer } from '../../tools/mcp/index.ts';
import { readMcpFile, writeMcpFile } from './mcp-config-edit.ts';

/** The tools that are off, and a sentence about a list that cannot be read. */
export type McpToolsOff = {
  readonly isOff: (server: Pick<McpServer, 'name'>, tool: string) => boolean;
  readonly problems: readonly string[];
};

/** Reads the list of a config directory. If it cannot be read, all tools are off: one of them may be a tool that the user does not want. */
export function readMcpToolsOff(configDir: string): McpToolsOff {
  const file = path.join(configDir, 'mcp.json');
  try {
    const text = readTextIfExists(file) ?? '';
    const data: unknown = text.trim() === '' ? {} : JSON.parse(text.replace(/^\ufeff/, ''));
    const list = parseToolsOff(isObject(data) ? (data as JsonObject) : {});
    if (list)
      return { isOff: ({ name }, tool) => list.get(name)?.has(escapeInvisibleLine(tool)) === true, problems: [] };
  } catch {
    // A file that cannot be read is reported as one with an invalid list.
  }
  const problem = `${file}: "toolsOff" cannot be read, so no tool of an MCP server is used. It must be {"<server>": ["<tool>", …]}.`;
  return { isOff: () => true, problems: [problem] };
}

/** Switches a tool of a server on or off in the user's mcp.json. Throws if the file cannot be read; it is then unchanged. */
export function switchMcpTool(configDir: string, server: string, tool: string, isOn: boolean): void {
  const file = path.join(configDir, 'mcp.json');
  const config = readMcpFile(file);
  const list = new Map(parseToolsOff(config));
  const tools = new Set(list.get(server));
  if (isOn) tools.delete(tool);
  else tools.add(tool);
  list.set(server, tools);
  const toolsOff = [...list]
    .filter(([, { size }]) => size > 0)
    .map(([name, names]): [string, Json] => [name, [...names]]);
  const { toolsOff: _, ...rest } = config;
  const next = toolsOff.length === 0 ? rest : { ...rest, toolsOff: Object.fromEntries(toolsOff) };
  writeMcpFile(file, 'user', JSON.stringify(next, null, 2));
}

/** Parses the list; undefined if it is invalid. */
function parseToolsOff({ toolsOff = {} }: JsonObject): ReadonlyMap<string, ReadonlySet<string>> | undefined {
  if (!isObject(toolsOff)) return undefined;
  const entries = Object.entries(toolsOff).map(([server, tools]) => {
    const names = Array.isArray(tools) && tools.every((tool) => typeof tool === 'string') ? tools : undefined;
    return [server, names && new Set(names as readonly string[])] as const;
  });
  const valid = entries.flatMap(([server, names]) => (names ? [[server, names] as const] : []));
  return valid.length === entries.length ? new Map(valid) : undefined;
}
