// Which calls of the last answer are still open, as far as a view can tell from the events alone.
import { unwrapDeferredCall, messageToolCalls, type Event, type Json } from '../../core/index.ts';

/** A call that has no result yet, under the name of the tool that is meant. */
export type OpenCall = {
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly started: boolean;
};

/** A call that has just been settled, and how. */
export type EndedCall = OpenCall & { readonly outcome: (Event & { readonly type: 'tool-ended' })['outcome'] };

const toOpenCall = (call: {
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly key?: string;
}): OpenCall => {
  const aim = unwrapDeferredCall(call);
  const { tool, input } = typeof aim === 'string' ? call : aim;
  return { id: call.id, tool, input, started: call.key !== undefined };
};

/** The open calls after one more event. */
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

/** The call under the name and with the arguments that it really runs with. */
const asStarted = (call: OpenCall, { tool, input }: Event & { readonly type: 'tool-started' }): OpenCall => ({
  id: call.id,
  tool,
  input: input ?? call.input,
  started: true,
});
