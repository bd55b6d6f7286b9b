// The tools of servers as tools of ours: named after their server, in its words, and only while it defines them as they were approved.
import { toolOutput, escapeInvisibleLine, type Tool } from '../../core/index.ts';
import type { Connection } from './connection.ts';
import { inputCheck, type Definition } from './definition.ts';
import { safeNames } from './names.ts';

/** How a tool stands: it can be used, its server changed or took away its definition, it is new since the approval, or cannot be used at all. */
export type ToolStanding = 'usable' | 'changed' | 'gone' | 'new' | 'refused';

/** A tool that is offered, and how it stands right now. */
export type Offered = {
  readonly connection: Connection;
  readonly definition: Definition;
  readonly hidden: boolean;
  readonly standing: () => ToolStanding;
};

const usualTimeout = 60_000;
const mostShown = 10;
const mostShownInAll = 30;

/** Whether so many tools, of one server and of all of them, are to be loaded on demand: every turn carries the list of what is shown. */
export const onDemand = ({ server }: Connection, own: number, all: number): boolean =>
  server.onDemand ?? (own > mostShown || all > mostShownInAll);

/** The offered tools, by names that none of them shares. */
export function toolsFrom(offered: readonly Offered[]): readonly Tool[] {
  const names = safeNames(
    offered.map(({ connection, definition }) => ({ server: connection.server.name, tool: definition.tool })),
  );
  return offered.map((each, i) => toolFrom(names[i] as string, each));
}

function toolFrom(name: string, { connection, definition, hidden, standing }: Offered): Tool {
  const { server } = connection;
  const { tool, description, input } = definition;
  // Only the user's own word makes a server's word count.
  const reads = definition.readOnly && server.trustReadOnly === true;
  const check = inputCheck(input);
  return {
    name,
    description,
    input,
    effect: reads ? 'read' : 'outside',
    ...(hidden || !definition.plain ? { deferred: true } : {}),
    validate: check,
    async execute(args, context) {
      const refuse = (): string | undefined => {
        const now = standing();
        return now === 'usable' ? undefined : whyNot(server.name, now);
      };
      const { timeoutMs = usualTimeout } = server;
      const { callTool } = await import('./call.ts');
      const said = await callTool({ connection, tool, input, timeoutMs, reads, refuse }, args, context);
      // What it had a model answer meanwhile is paid for by the run that called it.
      const spent = connection.spent();
      return spent ? toolOutput({ ...said, spent }) : said;
    },
  };
}

const whyNot = (server: string, standing: ToolStanding): string =>
  standing === 'gone'
    ? `the MCP server ${escapeInvisibleLine(server)} does not have it any more.`
    : `the MCP server ${escapeInvisibleLine(server)} changed what it says of this tool, and a person has not approved that yet.`;
