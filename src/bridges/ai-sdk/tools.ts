// A second door for the AI SDK's tools: whoever makes a call, the gates are asked before it runs.
import { FairleadError, toJson } from '../../core/index.ts';
import { getToolDenial, type ToolGate } from '../model-intercept/tool-gate.ts';

/** As much of a tool as is looked at here. */
type ToolLike = { readonly execute?: (input: unknown, options: { readonly toolCallId: string }) => unknown };

/** The same tools, each of which runs only where the guide's gates allow the call; otherwise it fails with the reason, which the model reads. */
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
