// The quarantine of a coding agent: the tool that reads in quarantine, the tools whose results are kept there, and sub-agents that only read.
import { createLazyValidator } from '../../agent/index.ts';
import type { JsonObject, NamedView, ResolvedAgent, Tool } from '../../core/index.ts';
import { quarantineView, readQuarantinedTool } from '../../guards/index.ts';
import type { ReaderContext } from './open-reader.ts';

/** The quarantine of an agent. */
export type AgentQuarantine = {
  /** The tool `read_quarantined`; deferred unless results of tools are kept in quarantine. */
  readonly tool: Tool;
  readonly view: NamedView<unknown>;
  /** Keeps the results of a tool in quarantine if the settings name it. */
  wrapTool(tool: Tool): Tool;
};

/** Creates the quarantine; nothing is loaded before a text is read, unless the settings name tools. */
export async function createAgentQuarantine(
  options: Omit<ReaderContext, 'notify'>,
  { notify, agent }: { readonly notify: (text: string) => void; readonly agent: () => ResolvedAgent | undefined },
): Promise<AgentQuarantine> {
  const tool = readQuarantinedTool({
    agent,
    openModel: async (context) => (await import('./open-reader.ts')).openReader({ ...options, notify }, context),
  });
  const names = options.settings.all.get('quarantine.tools')?.value;
  const keep =
    names === undefined ? undefined : (await import('./keep-results.ts')).createQuarantineWrapper(String(names));
  return {
    tool: keep ? { ...tool, deferred: false } : tool,
    view: quarantineView,
    wrapTool: (each) => {
      const spawning = each.name === 'spawn_agent' ? withReader(each, tool) : each;
      return keep && each.name !== tool.name ? keep(spawning) : spawning;
    },
  };
}

/** The tool that starts sub-agents, which can also start one that only reads. */
function withReader(spawn: Tool, reader: Tool): Tool {
  const { from, schema } = reader.input['properties'] as JsonObject;
  const properties = { ...(spawn.input['properties'] as JsonObject), read: from, schema } as JsonObject;
  const input = { ...spawn.input, properties };
  const load = async (): Promise<Tool> => (await import('./spawn-reader.ts')).createSpawnReader(spawn, reader);
  return {
    ...spawn,
    input,
    description: `${spawn.description} With "read" and "schema" it only reads that text, has no tools, and reports values of the schema.`,
    validate: createLazyValidator(input),
    needsApproval: async (given, state) => (await load()).needsApproval?.(given, state) ?? true,
    execute: async (given, context) => (await load()).execute(given, context),
  };
}
