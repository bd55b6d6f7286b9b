// A gate for one tool, with the typed input of that tool.
import type { Decision, Gate, RunState, ToolCall } from '../core/index.ts';
import { parseToolInput, type DefinedTool } from './define-tool.ts';

/** A call of a tool as its gate sees it: the input is parsed by the schema of the tool. */
export type TypedCall<Input> = Omit<ToolCall, 'input'> & { readonly input: Input };

/**
 * A gate that decides about the calls of one tool. The function gets the input with the type, defaults and transforms of the schema;
 * `undefined` allows the call. Input that does not match the schema is denied.
 */
export function toolGate<Input>(
  tool: DefinedTool<Input>,
  decide: (call: TypedCall<Input>, state: RunState) => Decision | undefined | Promise<Decision | undefined>,
): Gate {
  return async (call, state) => {
    if (call.tool !== tool.name) return { type: 'allow' };
    const parsed = await parseToolInput(tool, call.input);
    if ('error' in parsed) return { type: 'deny', reason: `The arguments do not fit: ${parsed.error}` };
    return (await decide({ ...call, input: parsed.value as Input }, state)) ?? { type: 'allow' };
  };
}
