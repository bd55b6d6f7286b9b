// Wraps tools of MCP servers as our tools: named after their server, and usable only while their definition is the approved one.
import { toolOutput, escapeInvisibleLine, type Tool } from '../../core/index.ts';
import type { McpConnection } from './connection.ts';
import { createInputValidator, type McpToolDefinition } from './definition.ts';
import { serverNames } from './flow-hints.ts';
import { createToolNames } from './names.ts';

/** The status of a tool: usable, changed or removed by its server, new since the approval, switched off by the user, or unusable. */
export type McpToolStatus = 'usable' | 'changed' | 'gone' | 'new' | 'off' | 'refused';

/** An offered tool, and its present status. */
export type OfferedMcpTool = {
  readonly connection: McpConnection;
  readonly definition: McpToolDefinition;
  readonly hidden: boolean;
  readonly status: () => McpToolStatus;
};

const defaultTimeoutMs = 60_000;
const maxShownPerServer = 10;
const maxShownTotal = 30;

/** Returns true if this many tools, of one server and of all, should be deferred: every request contains the list of shown tools. */
export const onDemand = ({ server }: McpConnection, toolCount: number, totalCount: number): boolean =>
  server.onDemand ?? (toolCount > maxShownPerServer || totalCount > maxShownTotal);

/** Creates the offered tools under unique names. */
export function createMcpTools(
  offered: readonly OfferedMcpTool[],
  groups: ReadonlyMap<string, string>,
): readonly Tool[] {
  const names = createToolNames(
    offered.map(({ connection: { server }, definition }) => ({
      group: groups.get(server.name) ?? 'server',
      server: server.name,
      tool: definition.tool,
    })),
  );
  return offered.map((each, i) => createMcpTool(names[i] as string, each));
}

function createMcpTool(name: string, { connection, definition, hidden, status }: OfferedMcpTool): Tool {
  const { server } = connection;
  const { tool, description, input } = definition;
  // The server's claim counts only if the user trusts it.
  const isTrusted = server.trust === true;
  const reads = definition.readOnly && (isTrusted || server.trustReadOnly === true);
  const check = createInputValidator(input);
  return {
    name,
    description,
    input,
    effect: reads ? 'read' : 'external',
    untrustedOutput: true,
    hints: { ...definition.hints, isTrusted, isOwn: server.origin === 'user', servers: serverNames(server), tool },
    ...(hidden || !definition.hasPortableSchema ? { deferred: true } : {}),
    validate: check,
    async execute(args, context) {
      const refuse = (): string | undefined => {
        const now = status();
        return now === 'usable' ? undefined : unusableReason(server.name, now);
      };
      const { timeoutMs = defaultTimeoutMs } = server;
      const { callMcpTool } = await import('./call.ts');
      const result = await callMcpTool(
        { connection, tool, input, timeoutMs, isRepeatable: reads, refusalReason: refuse },
        args,
        context,
      );
      // The run that called the tool pays for its model requests.
      const spent = connection.takeSpent();
      return spent ? toolOutput({ ...result, spent }) : result;
    },
  };
}

function unusableReason(server: string, status: McpToolStatus): string {
  if (status === 'off') return 'the user switched it off.';
  return status === 'gone'
    ? `the MCP server ${escapeInvisibleLine(server)} no longer has it.`
    : `the MCP server ${escapeInvisibleLine(server)} changed the definition of this tool, and the user has not approved that yet.`;
}
