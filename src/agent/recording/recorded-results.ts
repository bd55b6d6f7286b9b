// Finds the recorded result of a call by its tool and input, and gives it to a run that continues a recording.
import {
  branchOfLastEvent,
  copyTool,
  FairleadError,
  toolOutput,
  unwrapDeferredCall,
  type Event,
  type Fact,
  type Gate,
  type Json,
  type Log,
  type ResolvedAgent,
  type RunState,
  type Tool,
  type ToolCall,
} from '../../core/index.ts';
import { getCallKey, listRecordedCalls, type RecordedCall } from './recorded-calls.ts';

type ToolEnded = Event & { readonly type: 'tool-ended' };

/** The recorded results of a session, each given to the calls that repeat it. */
export type RecordedResults = {
  /** The recorded result for a call; the same one for each question about this call. */
  find(call: Pick<ToolCall, 'id' | 'tool' | 'input'>): ToolEnded | undefined;
  /** The recorded result that a call of this id got. */
  given(call: string): ToolEnded | undefined;
};

/** Creates the results from a turn on. Equal calls get their results in the recorded order, then the last one again; results of earlier turns come last. */
export function createRecordedResults(events: readonly Event[], from: number): RecordedResults {
  const calls = listRecordedCalls(branchOfLastEvent(events));
  const results = new Map<string, ToolEnded[]>();
  const isUsable = ({ result }: RecordedCall): boolean =>
    result !== undefined && result.outcome !== 'interrupted' && result.outcome !== 'unknown';
  const later = calls.filter((call) => call.turn >= from && isUsable(call));
  const earlier = calls.filter((call) => call.turn < from && isUsable(call));
  for (const { tool, input, turn, result } of [...later, ...earlier.toReversed()]) {
    const key = getCallKey(tool, input);
    const list = results.get(key) ?? [];
    if (result && (list.length === 0 || turn >= from)) list.push(result);
    results.set(key, list);
  }
  const given = new Map<string, ToolEnded | undefined>();
  return {
    find({ id, tool, input }) {
      if (given.has(id)) return given.get(id);
      const list = results.get(getCallKey(tool, input)) ?? [];
      const result = list.length > 1 ? list.shift() : list[0];
      given.set(id, result);
      return result;
    },
    given: (call) => given.get(call),
  };
}

/** A log that records the recorded result instead of the placeholder of a recorded tool. */
export const withRecordedResults = (log: Log, results: RecordedResults): Log => ({
  read: (options) => log.read(options),
  follow: (from, signal) => log.follow(from, signal),
  close: () => log.close(),
  append: (after, facts, options) =>
    log.append(
      after,
      facts.map((fact) => toRecordedFact(fact, results)),
      options,
    ),
});

function toRecordedFact(fact: Fact, results: RecordedResults): Fact {
  if (fact.type !== 'tool-ended') return fact;
  const result = results.given(fact.call);
  if (!result) return fact;
  const { seq: _seq, id: _id, parent: _parent, time: _time, ...recorded } = result;
  return { ...recorded, call: fact.call, ms: fact.ms };
}

/** Returns an agent whose tools return recorded results without running; `onUnrecorded` decides about any other call. Its gates decide as before. */
export function withRecordedTools(
  agent: ResolvedAgent,
  results: RecordedResults,
  onUnrecorded: (call: ToolCall) => 'run' | 'fail',
): ResolvedAgent {
  const replace = (tool: Tool): Tool =>
    copyTool(tool, {
      execute(input, context) {
        // The log replaces the placeholder by the recorded result.
        if (results.find(context.call)) return toolOutput({ text: '' });
        return onUnrecorded(context.call) === 'run' ? tool.execute(input, context) : noRecordedResult();
      },
    });
  return { ...agent, tools: new Map([...agent.tools].map(([name, tool]) => [name, replace(tool)])) };
}

/** Returns an agent whose gates let calls with a recorded result pass and ask no question about them; `onUnrecorded` decides about any other call. */
export function withRecordedDecisions(
  agent: ResolvedAgent,
  results: RecordedResults,
  onUnrecorded: (call: ToolCall) => 'run' | 'stop',
): ResolvedAgent {
  const first: Gate = (call) => {
    const result = results.find(call);
    if (result) return result.outcome === 'denied' ? { type: 'deny', reason: result.text } : { type: 'allow' };
    if (onUnrecorded(call) === 'run') return { type: 'allow' };
    return { type: 'deny', reason: 'The recording has no result of this call, so it was not run.' };
  };
  const gates = agent.gates.map(
    (gate): Gate =>
      (call, state) =>
        results.given(call.id) ? { type: 'allow' } : gate(call, state),
  );
  const replace = (tool: Tool): Tool =>
    tool.needsApproval
      ? copyTool(tool, {
          needsApproval: (input, state) =>
            !hasRecordedCall(state, tool.name, input, results) && (tool.needsApproval?.(input, state) ?? true),
        })
      : tool;
  const tools = new Map([...agent.tools].map(([name, tool]) => [name, replace(tool)]));
  return { ...agent, tools, gates: [first, ...gates] };
}

/** Throws: a tool of a recording has no result but the recorded ones. */
export function noRecordedResult(): never {
  throw new FairleadError('replay/no-result', 'The recording has no result of this call.', { blame: 'user' });
}

/** Whether an open call with this input got a recorded result, so that it runs nothing. */
const hasRecordedCall = ({ calls }: RunState, tool: string, input: Json, results: RecordedResults): boolean => {
  const same = calls.filter((call) => !call.result && isCallOf(call, tool, input));
  return same.length > 0 && same.every(({ id }) => results.given(id) !== undefined);
};

function isCallOf(call: ToolCall, tool: string, input: Json): boolean {
  const target = unwrapDeferredCall(call);
  return typeof target !== 'string' && getCallKey(tool, target.input) === getCallKey(tool, input);
}
