// MCP servers in words for people: exactly what would be started or spoken to, and what is wrong with one that is not.
import { escapeInvisible, escapeInvisibleLine } from '../../core/index.ts';
import type { McpServer, McpStatus } from '../../tools/mcp/index.ts';
import { shellQuote } from '../../workspace/shell-quote.ts';

/** The exact thing that is approved of a server, word for word; variables stand as their file has them. */
export function formatMcpTransport({ transport, source, origin }: McpServer): string {
  if (transport.type === 'in-process') return 'in this program';
  const from = origin === 'editor' ? 'named by the editor' : `named in ${escapeInvisibleLine(source)}`;
  if (transport.type === 'stdio')
    return [
      [transport.command, ...transport.args.map(shellQuote)].map(escapeInvisible).join(' '),
      ...(transport.cwd === undefined ? [] : [`in ${escapeInvisible(transport.cwd)}`]),
      ...Object.entries(transport.env).map(([name, value]) => `with ${escapeInvisible(`${name}=${value}`)}`),
      `${from}; it runs as you, outside the sandbox`,
    ].join('\n');
  return [
    `${transport.type} ${escapeInvisible(transport.url)}`,
    ...Object.entries(transport.headers).map(
      ([name, value]) => `with the header ${escapeInvisible(`${name}: ${value}`)}`,
    ),
    ...(transport.login ? [`with the login ${escapeInvisible(JSON.stringify(transport.login))}`] : []),
    `${from}; it gets what the model sends it`,
  ].join('\n');
}

/** Whose server it is. */
export const originLabels: Readonly<Record<McpServer['origin'], string>> = {
  user: 'your',
  project: "the project's",
  editor: "the editor's",
};

/** What is wrong with a server, and what can be done about it; nothing where all is well. */
export function formatMcpProblems({ server, origin, state, why, tools }: McpStatus): readonly string[] {
  const name = escapeInvisibleLine(server);
  const approve = `fairlead mcp approve ${/^[\w.@-]+$/.test(name) ? name : shellQuote(name)}`;
  const about = `MCP server ${name} (${originLabels[origin]})`;
  if (origin === 'editor' && (state === 'new' || state === 'changed'))
    return [`${about} is not started, for you did not agree to it.`];
  if (state === 'new') return [`${about} is not started, for it was not approved: ${approve}`];
  if (state === 'changed') return [`${about} is not started, for it changed since it was approved: ${approve}`];
  if (state === 'failed') return [`${about} has no tools now: ${why ?? 'it failed.'}`];
  if (state === 'starting')
    return [
      `${about} takes long to start and is not waited for; its tools are there at the next start after it has answered.`,
    ];
  const off = tools.filter(({ standing }) => standing === 'changed' || standing === 'new').map(({ tool }) => tool);
  return off.length === 0 ? [] : [formatToolsOff(server, off)];
}

/** That tools of a server are off until a person looked at them. */
export function formatToolsOff(server: string, tools: readonly string[]): string {
  const shown = tools.slice(0, 5).map(escapeInvisibleLine).join(', ');
  const more = tools.length > 5 ? ` and ${tools.length - 5} more` : '';
  const are = tools.length === 1 ? 'is off: it is' : 'are off: they are';
  return `${shown}${more} of the MCP server ${escapeInvisibleLine(server)} ${are} new or changed since you approved the server (/mcp approve ${escapeInvisibleLine(server)}).`;
}
