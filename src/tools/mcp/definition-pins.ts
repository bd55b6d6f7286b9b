// Pins of tool definitions: the approved hash of each tool of a server, stored under the approved server.
import type { Tool as Listed } from '@modelcontextprotocol/client';
import { parseToolDefinition, type McpToolDefinition } from './definition.ts';
import { approvalKey, type McpServer } from './server.ts';
import type { McpToolStatus } from './tools.ts';

/** The part of the trust store that servers need. */
export type McpApprovals = {
  check(item: { readonly subject: string; readonly hash: string }): 'approved' | 'changed' | 'new';
  approve(items: readonly { readonly subject: string; readonly hash: string }[]): void;
};

/** The status of a listed tool, and its definition if valid. */
export type McpToolState = {
  readonly status: McpToolStatus;
  readonly definition?: McpToolDefinition;
  readonly why?: string;
};

const maxTools = 500;

/** Returns the pins of these tools under the approved server. Another command or URL starts without pins. */
export function definitionPins(
  server: McpServer,
  states: readonly McpToolState[],
): readonly { subject: string; hash: string }[] {
  return states.flatMap(({ definition }) =>
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

/** Returns true if the tools of the present server were seen before. */
export const wasServerSeen = (server: McpServer, trust: McpApprovals): boolean =>
  trust.check(firstSeenPin(server)) === 'approved';

/** Approving a server approves the tools that it lists first. Tools that it adds or changes later need approval. */
export function pinFirstSeen(server: McpServer, listed: readonly Listed[], trust: McpApprovals): void {
  if (wasServerSeen(server, trust)) return;
  trust.approve([
    firstSeenPin(server),
    ...definitionPins(server, [...checkToolDefinitions(server, listed, trust).values()]),
  ]);
}

/** Returns the status of each listed tool, by the server's own name. */
export function checkToolDefinitions(
  server: McpServer,
  listed: readonly Listed[],
  trust: McpApprovals,
): ReadonlyMap<string, McpToolState> {
  const states = new Map<string, McpToolState>();
  for (const [i, each] of listed.entries()) {
    const state: McpToolState = states.has(each.name)
      ? { status: 'refused', why: 'it is listed twice' }
      : checkToolDefinition(server, each, i, trust);
    states.set(each.name, state);
  }
  return states;
}

function checkToolDefinition(server: McpServer, listed: Listed, index: number, trust: McpApprovals): McpToolState {
  const definition = index < maxTools ? parseToolDefinition(server.name, listed) : `only ${maxTools} tools are used`;
  if (typeof definition === 'string') return { status: 'refused', why: definition };
  const status = trust.check({ subject: pinSubject(server, definition.tool), hash: definition.hash });
  return { definition, status: status === 'approved' ? 'usable' : status };
}
