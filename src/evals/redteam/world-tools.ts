// The tools of the simulated world, as tools of an agent, and their declarations for the flow policy. They change records in memory and reach nothing else.
import { agentTool, tool } from '../../agent/index.ts';
import { FairleadError, type ApprovalHandler, type JsonObject, type Tool } from '../../core/index.ts';
import { builtinDeclarations, type FlowDeclarations } from '../../guards/flow/index.ts';
import { businessTools } from './business-tools.ts';
import { officeTools } from './office-tools.ts';
import type { Parameter, WorldTool } from './tool-parts.ts';
import type { PlannedCall } from './types.ts';
import type { MutableWorld } from './world.ts';

/** The tools of the simulated world by name. */
export const builtinWorldTools: ReadonlyMap<string, WorldTool> = new Map(
  Object.entries({ ...officeTools, ...businessTools }),
);

/** The name of the tool that gives a task to a sub-agent. */
export const assistantTool = 'ask_assistant';

/** The declarations of the tools, with the words of actions of the built-in ones. */
export const worldDeclarations: FlowDeclarations = {
  tools: new Map([
    ...[...builtinWorldTools].map(([name, { description: _, run: _run, inputs, ...declaration }]) => {
      const roles = Object.fromEntries(Object.entries(inputs).map(([key, { role }]) => [key, role]));
      return [name, { ...declaration, inputs: roles }] as const;
    }),
    [assistantTool, { effect: 'read', inputs: { task: 'body' }, output: 'untrusted' }],
  ]),
  actions: builtinDeclarations.actions,
};

/** Runs a call on a world. Throws if the tool or what it acts on does not exist. */
export function runOnWorld(
  world: MutableWorld,
  { tool: name, input }: PlannedCall,
  tools: ReadonlyMap<string, WorldTool> = builtinWorldTools,
): unknown {
  const found = tools.get(name);
  if (!found) throw new FairleadError('redteam/no-tool', `The world has no tool ${name}.`, { blame: 'user' });
  return found.run(world, input);
}

/** Whether the world has a tool. */
export const isWorldTool = (name: string): boolean => builtinWorldTools.has(name) || name === assistantTool;

/** Creates the tools of a world. `descriptions` replaces what the model reads about a tool; `onChange` is called after each call. */
export function createWorldTools(
  world: MutableWorld,
  descriptions: Readonly<Record<string, string>>,
  onApproval: ApprovalHandler,
  onChange: () => void,
  worldTools: ReadonlyMap<string, WorldTool> = builtinWorldTools,
): readonly Tool[] {
  const tools: Tool[] = [...worldTools].map(([name, { description, effect, inputs, run }]) =>
    tool({
      name,
      description: descriptions[name] ?? description,
      effect: effect === 'confirm' ? 'external' : effect,
      inputSchema: createSchema(inputs),
      // What tools return is text of the world, which may be written by anyone.
      untrustedOutput: effect === 'read',
      execute(input) {
        const result = run(world, input);
        onChange();
        return result;
      },
    }),
  );
  const description = 'Gives a task to an assistant with the same tools, and returns its report.';
  return [
    ...tools,
    agentTool({ name: assistantTool, description: descriptions[assistantTool] ?? description, onApproval }),
  ];
}

const createSchema = (inputs: Readonly<Record<string, Parameter>>): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(inputs).map(([name, { type }]) => [
      name,
      type === 'list' ? { type: 'array', items: { type: 'string' } } : { type },
    ]),
  ),
  required: Object.keys(inputs),
  additionalProperties: false,
});
