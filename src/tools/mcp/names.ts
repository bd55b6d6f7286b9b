// Names of MCP tools for models: `mcp__server__tool`, with characters that every provider accepts, without duplicates, and with the origin of servers that are not the user's.
import { hash } from 'node:crypto';
import type { McpServer } from './server.ts';

const maxNameLength = 64;
const maxGroupLength = 32;

/** A tool by the group of its server and by its name. */
export type McpToolOrigin = { readonly group: string; readonly server: string; readonly tool: string };

type NamedServer = Pick<McpServer, 'name' | 'origin'>;

/** Begins the groups of servers that are not the user's. A group of the user never begins with it, so a rule for one does not cover the other. */
const originPrefix: Readonly<Record<McpServer['origin'], string>> = {
  user: '',
  project: 'project-',
  editor: 'editor-',
};

/**
 * Returns the group of each server by its name: the server part of the tool names, short and without the separator. No two servers share a group. If their
 * names differ only in characters that a tool name cannot have, the one that is written as the group keeps it, and each other one gets a hash suffix.
 */
export function createServerGroups(servers: readonly NamedServer[]): ReadonlyMap<string, string> {
  const plain = servers.map((server) => ({ server, group: plainGroup(server) }));
  // Some providers treat names that differ only in case as the same.
  const counts = Map.groupBy(plain, ({ group }) => group.toLowerCase());
  return new Map(
    plain.map(({ server: { name, origin }, group }) => {
      const isOwner = group === `${originPrefix[origin]}${name}` && group === group.toLowerCase();
      const isAlone = counts.get(group.toLowerCase())?.length === 1;
      return [name, isAlone || isOwner ? group : `${group.slice(0, maxGroupLength - 9)}_${toMark([origin, name])}`];
    }),
  );
}

function plainGroup({ name, origin }: NamedServer): string {
  const folded = sanitizeName(name).replaceAll(/_+/g, '_');
  const marked =
    origin === 'user' ? folded.replace(/^(project|editor)-/i, '$1_') : `${originPrefix[origin]}${trimGroup(folded)}`;
  return trimGroup(marked.slice(0, maxGroupLength)) || 'server';
}

const trimGroup = (text: string): string => text.replaceAll(/^_|_$/g, '');

/** Returns a name for each tool, in order. Tools with the same name all get a hash suffix, so that no name depends on the order. */
export function createToolNames(origins: readonly McpToolOrigin[]): readonly string[] {
  const plain = origins.map(({ group, tool }) => `mcp__${group}__${sanitizeName(tool)}`);
  const counts = Map.groupBy(plain, (name) => name.toLowerCase());
  return plain.map((name, i) => {
    const isAlone = counts.get(name.toLowerCase())?.length === 1;
    if (isAlone && name.length <= maxNameLength) return name;
    const { server, tool } = origins[i] as McpToolOrigin;
    const mark = toMark([server, tool]);
    return `${name.slice(0, maxNameLength - mark.length - 1)}_${mark}`;
  });
}

const toMark = (parts: readonly string[]): string => hash('sha256', JSON.stringify(parts)).slice(0, 8);

const sanitizeName = (text: string): string => text.replaceAll(/[^a-zA-Z0-9_-]/g, '_') || '_';
