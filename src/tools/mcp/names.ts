// Names of MCP tools for models: `mcp__server__tool`, with characters that every provider accepts, and without duplicates.
import { hash } from 'node:crypto';

const maxNameLength = 64;

/** A tool by server name and tool name. */
export type McpToolOrigin = { readonly server: string; readonly tool: string };

/** Returns a name for each tool, in order. Tools with the same name all get a hash suffix, so that no name depends on the order. */
export function createToolNames(origins: readonly McpToolOrigin[]): readonly string[] {
  const plain = origins.map(({ server, tool }) => `mcp__${serverPrefix(server)}__${sanitizeName(tool)}`);
  // Some providers treat names that differ only in case as the same.
  const counts = Map.groupBy(plain, (name) => name.toLowerCase());
  return plain.map((name, i) => {
    const alone = counts.get(name.toLowerCase())?.length === 1;
    if (alone && name.length <= maxNameLength) return name;
    const { server, tool } = origins[i] as McpToolOrigin;
    const mark = hash('sha256', JSON.stringify([server, tool])).slice(0, 8);
    return `${name.slice(0, maxNameLength - mark.length - 1)}_${mark}`;
  });
}

const sanitizeName = (text: string): string => text.replaceAll(/[^a-zA-Z0-9_-]/g, '_') || '_';

/** Returns the server part of the names, by which all its tools can be loaded: short, and without the separator. */
const serverPrefix = (server: string): string =>
  sanitizeName(server).replaceAll(/_+/g, '_').slice(0, 32).replaceAll(/^_|_$/g, '') || 'server';
