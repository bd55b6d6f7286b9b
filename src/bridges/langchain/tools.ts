// Wraps LangChain tools: the gates decide before a tool runs, whichever code calls it.
import { FairleadError, isObject, toJson } from '../../core/index.ts';
import { getToolDenial, type ToolGate } from '../model-intercept/tool-gate.ts';

type ToolLike = { readonly name: string; readonly invoke: (input: unknown, config?: unknown) => Promise<unknown> };

/** Wraps tools so that each runs only if the gates allow the call; otherwise it fails with the reason, which a ToolNode shows the model. */
export const guardTools = <T extends { readonly name: string }>(tools: readonly T[], guide: ToolGate): T[] =>
  tools.map((tool) => guardTool(tool, guide));

function guardTool<T extends { readonly name: string }>(tool: T, guide: ToolGate): T {
  const { invoke } = tool as unknown as ToolLike;
  async function guarded(input: unknown, config?: unknown): Promise<unknown> {
    const call = isObject(input) && input['type'] === 'tool_call' ? input : { args: input };
    const id = typeof call['id'] === 'string' ? call['id'] : '';
    const refused = await getToolDenial(guide, { id, tool: tool.name, input: toJson(call['args']) });
    if (refused !== undefined) throw new FairleadError('bridge/refused', refused, { blame: 'model' });
    return invoke.call(tool, input, config);
  }
  return Object.assign(Object.create(tool) as T, { invoke: guarded });
}
