// Formats MCP servers for the user: what exactly is started or contacted, and why a server is not used.
import { escapeInvisible, escapeInvisibleLine } from '../../core/index.ts';
import type { McpServer, McpStatus } from '../../tools/mcp/index.ts';
import { shellQuote } from '../../workspace/index.ts';
import { isConfinedServer } from './mcp-launch.ts';

/** Exactly what the user approves of a server; variables are not expanded. */
export function formatMcpTransport(server: McpServer, isConfined: boolean = isConfinedServer(server)): string {
  const { transport, source, origin, files = [] } = server;
  if (transport.type === 'in-process') return 'in this program';
  const from = origin === 'editor' ? 'named by the editor' : `named in ${escapeInvisibleLine(source)}`;
  if (transport.type === 'stdio')
    return [
      [transport.command, ...transport.args.map(shellQuote)].map(escapeInvisible).join(' '),
      ...(transport.cwd === undefined ? [] : [`in ${escapeInvisible(transport.cwd)}`]),
      ...Object.entries(transport.env).map(([name, value]) => `with ${escapeInvisible(`${name}=${value}`)}`),
      ...(isConfined
        ? [`${from}; it runs in the sandbox, where it reads this directory, changes nothing and has no network`]
        : [`${from}; it runs as you, outside the sandbox`, ...formatFiles(files)]),
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

function formatFiles(files: NonNullable<McpServer['files']>): readonly string[] {
  const present = files.filter(({ hash }) => hash !== '').map(({ path }) => escapeInvisibleLine(path));
  return present.length === 0 ? [] : [`and uses these files, which commands can change: ${present.join(', ')}`];
}

/** The owner of a server, by its origin. */
export const originLabels: Readonly<Record<McpServer['origin'], string>> = {
  user: 'your',
  project: "the project's",
  editor: "the editor's",
};

/** The problems of a server and how to solve them; empty if there are none. */
export function formatMcpProblems({ server, origin, state, why, tools }: McpStatus): readonly string[] {
  const name = escapeInvisibleLine(server);
  const approve = `fairlead mcp approve ${/^[\w.@-]+$/.test(name) ? name : shellQuote(name)}`;
  const subject = `MCP server ${name} (${originLabels[origin]})`;
  if (origin === 'editor' && (state === 'new' || state === 'changed'))
    return [`${subject} is not started, for you did not agree to it.`];
  if (state === 'new') return [`${subject} is not started, for it was not approved: ${approve}`];
  if (state === 'changed') return [`${subject} is not started, for it changed since it was approved: ${approve}`];
  if (state === 'failed') return [`${subject} has no tools now: ${why ?? 'it failed.'}`];
  if (state === 'starting')
    return [
      `${subject} takes long to start and is not waited for; its tools are there at the next start after it has answered.`,
    ];
  const off = tools.filter(({ status }) => status === 'changed' || status === 'new').map(({ tool }) => tool);
  return off.length === 0 ? [] : [formatToolsOff(server, off)];
}

/** A warning that tools of a server are off until the user approves them. */
export function formatToolsOff(server: string, tools: readonly string[]): string {
  const shown = tools.slice(0, 5).map(escapeInvisibleLine).join(', ');
  const more = tools.length > 5 ? ` and ${tools.length - 5} more` : '';
  const verb = tools.length === 1 ? 'is off: it is' : 'are off: they are';
  return `${shown}${more} of the MCP server ${escapeInvisibleLine(server)} ${verb} new or changed since you approved the server (/mcp approve ${escapeInvisibleLine(server)}).`;
}
