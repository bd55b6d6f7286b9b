// What a person approved of a server's tools: the hash of each definition, kept under the server as it was approved.
import type { Tool as Listed } from '@modelcontextprotocol/client';
import { parseToolDefinition, type McpToolDefinition } from './definition.ts';
import { approvalKey, type McpServer } from './server.ts';
import type { McpToolStatus } from './tools.ts';

/** Where approvals are kept, as far as servers need it. */
export type McpApprovals = {
  check(item: { readonly subject: string; readonly hash: string }): 'approved' | 'changed' | 'new';
  approve(items: readonly { readonly subject: string; readonly hash: string }[]): void;
};

/** How a listed tool stands, and its definition where it can have one. */
export type McpToolState = {
  readonly status: McpToolStatus;
  readonly definition?: McpToolDefinition;
  readonly why?: string;
};

const maxTools = 500;

/** The pins of these tools, under the server as it was approved: another command or address begins anew. */
export function definitionPins(
  server: McpServer,
  stands: readonly McpToolState[],
): readonly { subject: string; hash: string }[] {
  return stands.flatMap(({ definition }) =>
    definition ? [{ subject: pinSubject(server, definition.tool), hash: definition.hash }] : [],
  );
}

function pinSubject(server: McpServer, tool: string): string {
  const { subject, hash } = approvalKey(server);
  return `mcp-tool ${subject} ${hash.slice(0, 16)} ${tool}`;
}

const firstSeenPin = (server: McpServer): { subject: string; hash: string } => ({
  subject: pinSubject(server, ''),
  hash: 'seen',
});

/** Whether the tools of the server, as it is now, were seen before. */
export const wasServerSeen = (server: McpServer, trust: McpApprovals): boolean =>
  trust.check(firstSeenPin(server)) === 'approved';

/** Who approved a server approved the tools that it has at first sight; what it adds or changes later is asked for again. */
export function pinFirstSeen(server: McpServer, listed: readonly Listed[], trust: McpApprovals): void {
  if (wasServerSeen(server, trust)) return;
  trust.approve([
    firstSeenPin(server),
    ...definitionPins(server, [...checkToolDefinitions(server, listed, trust).values()]),
  ]);
}

/** How each listed tool stands, by the server's own name of it. */
export function checkToolDefinitions(
  server: McpServer,
  listed: readonly Listed[],
  trust: McpApprovals,
): ReadonlyMap<string, McpToolState> {
  const stands = new Map<string, McpToolState>();
  for (const [i, each] of listed.entries()) {
    const stand: McpToolState = stands.has(each.name)
      ? { status: 'refused', why: 'it is listed twice' }
      : checkToolDefinition(server, each, i, trust);
    stands.set(each.name, stand);
  }
  return stands;
}

function checkToolDefinition(server: McpServer, listed: Listed, place: number, trust: McpApprovals): McpToolState {
  const definition = place < maxTools ? parseToolDefinition(server.name, listed) : `only ${maxTools} tools are taken`;
  if (typeof definition === 'string') return { status: 'refused', why: definition };
  const standing = trust.check({ subject: pinSubject(server, definition.tool), hash: definition.hash });
  return { definition, status: standing === 'approved' ? 'usable' : standing };
}
