// Finds the declarations that were written for tools of well-known MCP servers, by the package of the server or its name in the user's own configuration.
import type { Tool, ToolHints } from '../../core/index.ts';
import { parseDeclarations } from './declarations.ts';
import type { FlowDeclarations, ServerDeclarations, ToolDeclaration } from './types.ts';

/** Parses the lines of a server into declarations by the name of the tool. */
export function parseServerTools({ name, tools }: ServerDeclarations): ReadonlyMap<string, ToolDeclaration> {
  const lines = tools.split('\n').filter((line) => line.trim() !== '');
  return parseDeclarations({ tools: Object.fromEntries(lines.map((line) => parseLine(name, line.trim()))) }).tools;
}

function parseLine(server: string, line: string): readonly [string, unknown] {
  const [declared = '', output = 'untrusted'] = line.split(' > ');
  const [tool = server, effect = '', action = '-', ...inputs] = declared.split(/ +/);
  return [
    tool,
    {
      effect: effect.replaceAll(/[!*]/g, ''),
      destructive: effect.includes('!'),
      private: effect.includes('*'),
      ...(action === '-' ? {} : { action }),
      inputs: Object.fromEntries(inputs.map((each) => each.split(':'))),
      output: output === 'trusted' || output === 'untrusted' ? output : { untrusted: output.split(',') },
    },
  ];
}

/** Loads the declarations of all known servers. */
export const loadServerDeclarations = async (): Promise<readonly ServerDeclarations[]> =>
  (await import('./servers/known-servers.ts')).knownServers;

/** The known server that these hints name; undefined if there is none. A server of a project or an editor is not taken for a known one: it can have any name. */
export const findKnownServer = (
  known: readonly ServerDeclarations[],
  { isOwn, servers }: Pick<ToolHints, 'isOwn' | 'servers'>,
): ServerDeclarations | undefined =>
  isOwn
    ? (known.find(({ packages }) => servers.some((each) => packages.includes(each))) ??
      known.find(({ name }) => servers[0]?.toLowerCase() === name))
    : undefined;

/** Returns the written declarations of those tools that have one, by the name under which the agent has them. */
export async function findWrittenDeclarations(tools: Iterable<Tool>): Promise<FlowDeclarations> {
  const found = new Map<string, ToolDeclaration>();
  const known = await loadServerDeclarations();
  const parsed = new Map<ServerDeclarations, ReadonlyMap<string, ToolDeclaration>>();
  for (const { name, hints } of tools) {
    const server = hints && findKnownServer(known, hints);
    if (!server) continue;
    const declarations = parsed.get(server) ?? parseServerTools(server);
    parsed.set(server, declarations);
    const declaration = declarations.get(hints.tool);
    if (declaration) found.set(name, withRaisedHints(declaration, hints));
  }
  return { tools: found, actions: new Map() };
}

/** What the server says can raise what was written. */
const withRaisedHints = (declaration: ToolDeclaration, { destructive, labels }: ToolHints): ToolDeclaration => ({
  ...declaration,
  ...(destructive === true && declaration.effect !== 'read' ? { destructive: true } : {}),
  ...(labels?.confidentiality === 'private' ? { private: true } : {}),
  ...(labels?.integrity === 'untrusted' ? { output: 'untrusted' as const } : {}),
});
