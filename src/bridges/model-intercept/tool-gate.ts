// Gates around a tool itself, for calls that do not come from the model response: edited by the user or made by other code.
import { canonicalJson, type ToolCallPart } from '../../core/index.ts';
import type { Interceptor } from '../interceptor/interceptor.ts';

/** The part of an interceptor that a tool gate needs. */
export type ToolGate = Pick<Interceptor, 'evaluateCall' | 'state'>;

/** Returns why a call may not run. A call that was allowed with the model response is not decided twice: it would count against rate limits twice. */
export async function getToolDenial(
  guide: ToolGate,
  call: Pick<ToolCallPart, 'id' | 'tool' | 'input'>,
): Promise<string | undefined> {
  const input = canonicalJson(call.input);
  const passed = guide.state.calls.some(
    (each) => each.id === call.id && each.tool === call.tool && canonicalJson(each.input) === input,
  );
  return passed ? undefined : (await guide.evaluateCall(call))?.reason;
}
