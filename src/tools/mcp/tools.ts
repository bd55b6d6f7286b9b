// The tools of servers as tools of ours: named after their server, in its words, and only while it defines them as they were approved.
import { toolOutput, escapeInvisibleLine, type Tool } from '../../core/index.ts';
import type { McpConnection } from './connection.ts';
import { createInputValidator, type McpToolDefinition } from './definition.ts';
import { createToolNames } from './names.ts';

/** How a tool stands: it can be used, its server changed or took away its definition, it is new since the approval, or cannot be used at all. */
export type McpToolStatus = 'usable' | 'changed' | 'gone' | 'new' | 'refused';

/** A tool that is offered, and how it stands right now. */
export type OfferedMcpTool = {
  readonly connection: McpConnection;
  readonly definition: McpToolDefinition;
  readonly hidden: boolean;
  readonly status: () => McpToolStatus;
};

const defaultTimeoutMs = 60_000;
const maxShownPerServer = 10;
const maxShownTotal = 30;

/** Whether so many tools, of one server and of all of them, are to be loaded on demand: every turn carries the list of what is shown. */
export const onDemand = ({ server }: McpConnection, own: number, all: number): boolean =>
  server.onDemand ?? (own > maxShownPerServer || all > maxShownTotal);

/** The offered tools, by names that none of them shares. */
export function createMcpTools(offered: readonly OfferedMcpTool[]): readonly Tool[] {
  const names = createToolNames(
    offered.map(({ connection, definition }) => ({ server: connection.server.name, tool: definition.tool })),
  );
  return offered.map((each, i) => createMcpTool(names[i] as string, each));
}

function createMcpTool(name: string, { connection, definition, hidden, status }: OfferedMcpTool): Tool {
  const { server } = connection;
  const { tool, description, input } = definition;
  // Only the user's own word makes a server's word count.
  const reads = definition.readOnly && server.trustReadOnly === true;
  const check = createInputValidator(input);
  return {
    name,
    description,
    input,
    effect: reads ? 'read' : 'external',
    ...(hidden || !definition.hasPortableSchema ? { deferred: true } : {}),
    validate: check,
    async execute(args, context) {
      const refuse = (): string | undefined => {
        const now = status();
        return now === 'usable' ? undefined : unusableReason(server.name, now);
      };
      const { timeoutMs = defaultTimeoutMs } = server;
      const { callMcpTool } = await import('./call.ts');
      const said = await callMcpTool(
        { connection, tool, input, timeoutMs, isRepeatable: reads, refusalReason: refuse },
        args,
        context,
      );
      // What it had a model answer meanwhile is paid for by the run that called it.
      const spent = connection.takeSpent();
      return spent ? toolOutput({ ...said, spent }) : said;
    },
  };
}

const unusableReason = (server: string, standing: McpToolStatus): string =>
  standing === 'gone'
    ? `the MCP server ${escapeInvisibleLine(server)} does not have it any more.`
    : `the MCP server ${escapeInvisibleLine(server)} changed what it says of this tool, and a person has not approved that yet.`;
