// Names of MCP tools as models see them: `mcp__server__tool`, letters that every provider takes, never two of one name.
import { hash } from 'node:crypto';

const maxNameLength = 64;

/** A tool by its server's name and its own. */
export type McpToolOrigin = { readonly server: string; readonly tool: string };

/** A name for each, in their order. Those that would share one all get a mark of their own, so none depends on who came first. */
export function createToolNames(origins: readonly McpToolOrigin[]): readonly string[] {
  const plain = origins.map(({ server, tool }) => `mcp__${serverPrefix(server)}__${sanitizeName(tool)}`);
  // Some providers take names that differ only in case for the same.
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

/** A server's part of the names, by which all its tools can be loaded: short, and without the mark that ends it. */
const serverPrefix = (server: string): string =>
  sanitizeName(server).replaceAll(/_+/g, '_').slice(0, 32).replaceAll(/^_|_$/g, '') || 'server';
