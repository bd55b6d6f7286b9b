// Creates the gate of the flow policy with the declarations of all tools of an agent.
import type { Gate, RunState } from '../../core/index.ts';
import { builtinDeclarations, mergeDeclarations } from './builtin-declarations.ts';
import { declareTool } from './declare-tool.ts';
import { createFlowGate } from './flow-gate.ts';
import type { FlowLog } from './flow-log.ts';
import type { FlowPolicyOptions } from './flow-policy.ts';
import { createFlowFold, type FlowFold } from './fold-log.ts';
import { loadYaml } from './parse-structure.ts';
import type { FlowDeclarations } from './types.ts';

/** The declarations of an agent: of the built-in tools, those that are given, and automatic ones for the other tools. */
export function declareTools({
  tools,
  declarations,
}: Pick<FlowPolicyOptions, 'tools' | 'declarations'>): FlowDeclarations {
  const written = declarations ? mergeDeclarations(builtinDeclarations, declarations) : builtinDeclarations;
  const automatic = [...tools.values()].filter(({ name }) => !written.tools.has(name));
  return {
    tools: new Map([...automatic.map((tool) => [tool.name, declareTool(tool)] as const), ...written.tools]),
    actions: written.actions,
  };
}

/** Creates the gate, and the fold of the log that it reads. */
export async function loadFlowGate(
  options: FlowPolicyOptions,
  readLog: (state: RunState) => FlowLog,
): Promise<{ readonly gate: Gate; readonly fold: FlowFold }> {
  if (options.declarations) await loadYaml();
  const declarations = declareTools(options);
  const { own, roots, mode } = options;
  const fold = createFlowFold({ declarations, ...(own ? { own } : {}), ...(roots ? { roots } : {}) });
  return { gate: createFlowGate(readLog, { fold, declarations, mode }), fold };
}
