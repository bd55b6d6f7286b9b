// Wraps AI SDK tools: the gates decide before a tool runs, whichever code calls it.
import { FairleadError, toJson } from '../../core/index.ts';
import { getToolDenial, type ToolGate } from '../model-intercept/tool-gate.ts';

/** The part of an SDK tool that is used here. */
type ToolLike = { readonly execute?: (input: unknown, options: { readonly toolCallId: string }) => unknown };

/** Wraps tools so that each runs only if the gates allow the call; otherwise it fails with the reason, which the model reads. */
export function guardToolSet<Tools extends Readonly<Record<string, object>>>(tools: Tools, guide: ToolGate): Tools {
  const guarded = Object.entries(tools).map(([name, tool]) => [name, guardTool(name, tool, guide)]);
  return Object.fromEntries(guarded) as Tools;
}

function guardTool(name: string, tool: ToolLike, guide: ToolGate): object {
  const run = tool.execute;
  if (!run) return tool;
  return {
    ...tool,
    async execute(input: unknown, options: { readonly toolCallId: string }) {
      const refused = await getToolDenial(guide, { id: options.toolCallId, tool: name, input: toJson(input) });
      if (refused !== undefined) throw new FairleadError('bridge/refused', refused, { blame: 'model' });
      return run.call(tool, input, options);
    },
  };
}
