// Reads a call of the model as the flow policy sees it: a call of a deferred tool is that of the tool itself.
import { unwrapDeferredCall } from '../../core/index.ts';
import type { FlowCall } from './types.ts';

/** Returns the call of the tool that runs. */
export function toFlowCall({ id, tool, input }: FlowCall): FlowCall {
  const call = unwrapDeferredCall({ tool, input });
  return typeof call === 'string' ? { id, tool, input } : { id, tool: call.tool, input: call.input };
}
