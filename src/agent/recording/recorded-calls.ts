// The tool calls of a recorded session with their results, and the key by which equal calls are found.
import { canonicalJson, messageToolCalls, unwrapDeferredCall, type Event, type Json } from '../../core/index.ts';

/** A tool call as it was recorded: the tool after aliases, the input of the model, and the result. */
export type RecordedCall = {
  readonly id: string;
  readonly turn: number;
  readonly tool: string;
  readonly input: Json;
  readonly result?: Event & { readonly type: 'tool-ended' };
};

/** Returns the tool calls of a branch, oldest first. */
export function listRecordedCalls(path: readonly Event[]): readonly RecordedCall[] {
  const calls = new Map<string, RecordedCall>();
  for (const event of path) {
    if (event.type === 'turn-ended')
      for (const part of messageToolCalls(event.message)) {
        const target = unwrapDeferredCall(part);
        const { tool, input } = typeof target === 'string' ? part : target;
        calls.set(part.id, { id: part.id, turn: event.turn, tool, input });
      }
    const call = event.type === 'tool-started' || event.type === 'tool-ended' ? calls.get(event.call) : undefined;
    if (!call) continue;
    if (event.type === 'tool-started') calls.set(call.id, { ...call, tool: event.tool });
    if (event.type === 'tool-ended') calls.set(call.id, { ...call, result: event });
  }
  return [...calls.values()];
}

/** The key under which equal calls are found: the tool and the input in canonical form. */
export const getCallKey = (tool: string, input: Json): string => `${tool} ${canonicalJson(input)}`;
