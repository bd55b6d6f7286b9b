// Continues a recorded session at a turn: the events before it are taken from the recording, and what follows is live or recorded.
import {
  branchOfLastEvent,
  canonicalJson,
  copyTool,
  FairleadError,
  messageToolCalls,
  readRecordedTurns,
  replayRecordedTurn,
  toolOutput,
  unwrapDeferredCall,
  type Event,
  type Json,
  type Provider,
  type ResolvedAgent,
  type Tool,
} from '../../core/index.ts';
import { memoryLog, type MemoryLog } from '../../stores/index.ts';
import { Session } from '../session.ts';

/** Returns the events before a turn, as a log of their own. Throws if the recording has no such turn. */
export function cutBeforeTurn(events: readonly Event[], turn: number): readonly Event[] {
  const path = branchOfLastEvent(events);
  // A turn that failed is started again under the same number: the first start counts.
  const end = path.findIndex((event) => event.type === 'turn-started' && event.turn === turn);
  if (end === -1) throw noTurnError(path, turn);
  const ids = new Map(path.map(({ id }, i) => [id, (i + 1).toString(36)]));
  return path.slice(0, end).map((event, i): Event => {
    const moved = {
      ...event,
      seq: i + 1,
      id: (i + 1).toString(36),
      parent: i === 0 ? null : i.toString(36),
    };
    return moved.type === 'branch-started' ? { ...moved, from: ids.get(moved.from) ?? moved.from } : moved;
  });
}

function noTurnError(path: readonly Event[], turn: number): FairleadError {
  const turns = path.flatMap((event) => (event.type === 'turn-started' ? [event.turn] : []));
  const [first] = turns;
  return new FairleadError('session/no-turn', `The session has no turn ${turn}.`, {
    blame: 'user',
    hint: first === undefined ? 'It has no turn at all.' : `It has the turns ${first} to ${turns.at(-1)}.`,
  });
}

/** A session that continues a recording, in memory, and the log with the recorded events and the new ones. */
export type ContinuedSession = {
  readonly session: Session;
  readonly log: MemoryLog;
  /** The number of recorded events at the start of the log. */
  readonly recorded: number;
};

/** Opens a session at the point before a turn of a recording, for this agent. No model is asked until it is advanced. */
export async function openBeforeTurn(
  agent: ResolvedAgent,
  events: readonly Event[],
  turn: number,
): Promise<ContinuedSession> {
  const prefix = cutBeforeTurn(events, turn);
  const log = memoryLog(prefix);
  return { session: await Session.open(agent, log), log, recorded: prefix.length };
}

/** Creates a provider that answers as the recording did, from a turn on, whatever it is asked. */
export function createRecordedProvider(events: readonly Event[], fromTurn: number): Provider {
  const path = branchOfLastEvent(events);
  const turns = readRecordedTurns(path).filter(({ turn }) => turn >= fromTurn);
  let next = 0;
  return {
    family: 'recorded',
    model: path.findLast((event) => event.type === 'epoch-started')?.model ?? 'recorded',
    price: { input: 0, output: 0 },
    async *stream() {
      const recorded = turns[next++];
      if (!recorded)
        throw new FairleadError(
          'session/recording-over',
          `The recording has no answer after turn ${fromTurn + turns.length - 1}.`,
          {
            blame: 'user',
            hint: 'The agent continues where it stopped when it was recorded.',
          },
        );
      yield* replayRecordedTurn(recorded.outcome);
    },
  };
}

/** Returns an agent whose tools return what the recording has for the same call, each result once, and fail for other calls. Nothing is executed. */
export function withRecordedTools(agent: ResolvedAgent, events: readonly Event[]): ResolvedAgent {
  const results = readResults(branchOfLastEvent(events));
  const replace = (tool: Tool): Tool =>
    copyTool(tool, {
      execute(input) {
        const found = results.get(callKey(tool.name, input))?.shift();
        if (found?.outcome === 'ok') return toolOutput({ text: found.text });
        throw new Error(found?.text ?? 'The recording has no result of this call.');
      },
    });
  return { ...agent, tools: new Map([...agent.tools].map(([name, tool]) => [name, replace(tool)])) };
}

type RecordedResult = Pick<Event & { readonly type: 'tool-ended' }, 'outcome' | 'text'>;

const callKey = (tool: string, input: Json): string => `${tool} ${canonicalJson(input)}`;

function readResults(path: readonly Event[]): ReadonlyMap<string, RecordedResult[]> {
  const keys = new Map<string, string>();
  const results = new Map<string, RecordedResult[]>();
  for (const event of path) {
    if (event.type === 'turn-ended')
      for (const call of messageToolCalls(event.message)) {
        const aim = unwrapDeferredCall(call);
        keys.set(
          call.id,
          callKey(typeof aim === 'string' ? call.tool : aim.tool, typeof aim === 'string' ? call.input : aim.input),
        );
      }
    if (event.type === 'tool-started') {
      const known = keys.get(event.call);
      if (event.input !== undefined) keys.set(event.call, callKey(event.tool, event.input));
      else if (known !== undefined && !known.startsWith(`${event.tool} `))
        keys.set(event.call, `${event.tool} ${known.slice(known.indexOf(' ') + 1)}`);
    }
    if (event.type !== 'tool-ended') continue;
    const key = keys.get(event.call);
    if (key === undefined) continue;
    const list = results.get(key) ?? [];
    list.push({ outcome: event.outcome, text: event.text });
    results.set(key, list);
  }
  return results;
}
