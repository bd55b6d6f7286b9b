// Declares all tools of an agent without a look at their servers: built-in and given declarations, and automatic ones for the other tools.
import { builtinDeclarations, mergeDeclarations } from './builtin-declarations.ts';
import { declareTool } from './declare-tool.ts';
import type { FlowPolicyOptions } from './flow-policy.ts';
import type { FlowDeclarations } from './types.ts';

/** The declarations of an agent without those of servers: of the built-in tools, those that are given, and automatic ones for the other tools. */
export function declareTools({
  tools,
  declarations,
}: Pick<FlowPolicyOptions, 'tools'> & { readonly declarations?: FlowDeclarations }): FlowDeclarations {
  const written = declarations ? mergeDeclarations(builtinDeclarations, declarations) : builtinDeclarations;
  const automatic = [...tools.values()].filter(({ name }) => !written.tools.has(name));
  return {
    tools: new Map([...automatic.map((tool) => [tool.name, declareTool(tool)] as const), ...written.tools]),
    actions: written.actions,
  };
}
