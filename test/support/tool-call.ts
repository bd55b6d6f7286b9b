// Calls a tool as a run does: input is validated against the schema first, and a failure is text.
import { createToolRegistry } from '../../src/agent/index.ts';
import { errorMessage, type Fact, type Json, type Tool, type ToolContext } from '../../src/core/index.ts';
import { toolResultFact } from '../../src/core/tool-result.ts';

/** The result of a call. */
export type ToolCallResult = Pick<Fact & { readonly type: 'tool-ended' }, 'text' | 'data' | 'outcome'>;

/** Calls one of these tools. */
export async function callTool(
  tools: readonly Tool[],
  name: string,
  input: Json,
  context: Partial<ToolContext> = {},
): Promise<ToolCallResult> {
  const tool = createToolRegistry(tools).get(name);
  if (!tool) throw new Error(`There is no tool named ${name}.`);
  const wrong = tool.validate?.(input);
  if (wrong !== undefined) return { outcome: 'failed', text: wrong };
  const given = {
    signal: new AbortController().signal,
    call: { id: 'c1', tool: name, input },
    state: { session: 's1' },
    ...context,
  } as ToolContext;
  try {
    return toolResultFact('c1', await tool.execute(input, given), 1_000_000, 0);
  } catch (error) {
    return { outcome: 'failed', text: errorMessage(error) };
  }
}
