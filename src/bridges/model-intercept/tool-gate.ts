// The door in front of a tool itself, for calls that come past the model: edited by a person, made by other code.
import { canonicalJson, type ToolCallPart } from '../../core/index.ts';
import type { Interceptor } from '../interceptor/interceptor.ts';

/** As much of a guide as a tool's door needs. */
export type ToolGate = Pick<Interceptor, 'evaluateCall' | 'state'>;

/** Why a call may not run, if it may not. One that the guide let through with the model's answer is not judged twice: it would count against itself. */
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
