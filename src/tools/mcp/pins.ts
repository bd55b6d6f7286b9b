// What a person approved of a server's tools: the hash of each definition, kept under the server as it was approved.
import type { Tool as Listed } from '@modelcontextprotocol/client';
import { definitionOf, type Definition } from './definition.ts';
import { approvalKey, type McpServer } from './server.ts';
import type { ToolStanding } from './tools.ts';

/** Where approvals are kept, as far as servers need it. */
export type Approvals = {
  judge(item: { readonly subject: string; readonly hash: string }): 'approved' | 'changed' | 'new';
  approve(items: readonly { readonly subject: string; readonly hash: string }[]): void;
};

/** How a listed tool stands, and its definition where it can have one. */
export type Stand = { readonly standing: ToolStanding; readonly definition?: Definition; readonly why?: string };

const mostTools = 500;

/** The pins of these tools, under the server as it was approved: another command or address begins anew. */
export function pinsOf(server: McpServer, stands: readonly Stand[]): readonly { subject: string; hash: string }[] {
  return stands.flatMap(({ definition }) =>
    definition ? [{ subject: pinName(server, definition.tool), hash: definition.hash }] : [],
  );
}

function pinName(server: McpServer, tool: string): string {
  const { subject, hash } = approvalKey(server);
  return `mcp-tool ${subject} ${hash.slice(0, 16)} ${tool}`;
}

const firstSight = (server: McpServer): { subject: string; hash: string } => ({
  subject: pinName(server, ''),
  hash: 'seen',
});

/** Whether the tools of the server, as it is now, were seen before. */
export const wasSeen = (server: McpServer, trust: Approvals): boolean => trust.judge(firstSight(server)) === 'approved';

/** Who approved a server approved the tools that it has at first sight; what it adds or changes later is asked for again. */
export function pinFirst(server: McpServer, listed: readonly Listed[], trust: Approvals): void {
  if (wasSeen(server, trust)) return;
  trust.approve([firstSight(server), ...pinsOf(server, [...judged(server, listed, trust).values()])]);
}

/** How each listed tool stands, by the server's own name of it. */
export function judged(server: McpServer, listed: readonly Listed[], trust: Approvals): ReadonlyMap<string, Stand> {
  const stands = new Map<string, Stand>();
  for (const [i, each] of listed.entries()) {
    const stand: Stand = stands.has(each.name)
      ? { standing: 'refused', why: 'it is listed twice' }
      : judgeOne(server, each, i, trust);
    stands.set(each.name, stand);
  }
  return stands;
}

function judgeOne(server: McpServer, listed: Listed, place: number, trust: Approvals): Stand {
  const definition = place < mostTools ? definitionOf(server.name, listed) : `only ${mostTools} tools are taken`;
  if (typeof definition === 'string') return { standing: 'refused', why: definition };
  const standing = trust.judge({ subject: pinName(server, definition.tool), hash: definition.hash });
  return { definition, standing: standing === 'approved' ? 'usable' : standing };
}
