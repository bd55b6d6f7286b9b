// Tracks the open calls of the last answer, from events alone.
import { unwrapDeferredCall, messageToolCalls, type Event, type Json } from '../../core/index.ts';

/** A call without a result, under the name of the tool that it runs. */
export type OpenCall = {
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly started: boolean;
};

/** A call that has just ended, with its outcome. */
export type EndedCall = OpenCall & { readonly outcome: (Event & { readonly type: 'tool-ended' })['outcome'] };

const toOpenCall = (call: {
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly key?: string;
}): OpenCall => {
  const target = unwrapDeferredCall(call);
  const { tool, input } = typeof target === 'string' ? call : target;
  return { id: call.id, tool, input, started: call.key !== undefined };
};

/** Updates the open calls with an event. */
export function updateOpenCalls(calls: readonly OpenCall[], event: Event): readonly OpenCall[] {
  if (event.type === 'turn-ended') return messageToolCalls(event.message).map(toOpenCall);
  if (event.type === 'tool-started')
    return calls.map((call) => (call.id === event.call ? asStarted(call, event) : call));
  if (event.type === 'tool-ended') return calls.filter(({ id }) => id !== event.call);
  if (event.type === 'epoch-started' && event.baseline)
    return (event.baseline.calls ?? []).filter(({ result }) => !result).map(toOpenCall);
  const isOver = event.type === 'turn-started' || event.type === 'branch-started';
  return isOver && calls.length ? [] : calls;
}

/** Returns the call with the tool name and arguments that it runs with. */
const asStarted = (call: OpenCall, { tool, input }: Event & { readonly type: 'tool-started' }): OpenCall => ({
  id: call.id,
  tool,
  input: input ?? call.input,
  started: true,
});
