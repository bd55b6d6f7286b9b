// The agent of a replay: its model answers as recorded, its tools return recorded results, and its gates decide as recorded. It executes nothing.
import { getCallKey } from '../../agent/recording/index.ts';
import { setImmediate } from 'node:timers/promises';
import {
  FairleadError,
  replayRecordedTurn,
  toolOutput,
  unwrapDeferredCall,
  type Gate,
  type Provider,
  type ResolvedAgent,
  type Tool,
} from '../../core/index.ts';
import type { DerivedEvent, Recording } from './recording.ts';

/** Where a replay is in its recording. */
export type ReplayPosition = {
  /** The next recorded fact, or one after it. */
  peek(offset?: number): DerivedEvent | undefined;
  peekCall(call: string): DerivedEvent | undefined;
};

/** The parts of an agent that a replay takes from the current configuration. */
export type ReplayRules = Pick<ResolvedAgent, 'rules' | 'reminders' | 'views' | 'maxNoteTokens'>;

const emptyRules: ReplayRules = { rules: [], reminders: [] };

/** Creates the agent of a replay. */
export function createRecordedAgent(
  recording: Recording,
  position: ReplayPosition,
  { rules, reminders, views, maxNoteTokens }: ReplayRules = emptyRules,
): ResolvedAgent {
  const tools = createRecordedTools(recording, position);
  const aliases = findAliases(recording);
  return {
    system: '',
    provider: createProviderAt(position),
    tools,
    resolveToolName: ({ tool, input }) => aliases.get(getCallKey(tool, input)),
    rules,
    reminders,
    ...(views ? { views } : {}),
    ...(maxNoteTokens === undefined ? {} : { maxNoteTokens }),
    gates: [createRecordedGate(position)],
    stops: [],
    checks: [],
    settings: {},
    onUnknownOutcome: 'ask',
    outputSchema: { validate: () => recordedSchemaError(position) },
  };
}

/** A provider that answers with the recorded end of the turn that the log is at. */
function createProviderAt(position: ReplayPosition): Provider {
  return {
    family: 'replay',
    model: 'recorded',
    // A budget in money ended the recorded run or did not; the price of then is not known.
    price: { input: 0, output: 0 },
    async *stream() {
      // A long session must not keep a server from answering.
      await setImmediate();
      const outcome = position.peek();
      if (outcome?.type !== 'turn-ended' && outcome?.type !== 'turn-failed')
        throw new FairleadError('replay/interrupted', 'The recorded turn has no end.', { blame: 'user' });
      yield* replayRecordedTurn(outcome);
    },
  };
}

/** A placeholder result: the log of the replay replaces it by the recorded one. */
const placeholder = (): unknown => toolOutput({ text: '' });

/** Creates a tool for each name that was called. Calls run concurrently where they did then. */
export function createRecordedTools(
  { calls, concurrentTools, clientTools }: Pick<Recording, 'calls' | 'concurrentTools' | 'clientTools'>,
  position: ReplayPosition,
): ReadonlyMap<string, Tool> {
  const names = new Set(calls.map(({ tool }) => tool));
  return new Map(
    [...names].map((name): [string, Tool] => {
      const clientSideQuestion = clientTools.get(name);
      return [
        name,
        {
          name,
          description: '',
          input: {},
          effect: concurrentTools.has(name) ? 'read' : 'external',
          ...(clientSideQuestion === undefined ? {} : { clientSideQuestion }),
          checkOutcome: (_input, { call }) => {
            const next = position.peekCall(call.id)?.type;
            return next === 'tool-ended' ? placeholder() : next === 'tool-started' ? false : undefined;
          },
          execute: placeholder,
        },
      ];
    }),
  );
}

/** Decides as recorded: asks the recorded question, denies what was denied, and rewrites to the recorded input. */
const createRecordedGate =
  (position: ReplayPosition): Gate =>
  (call) => {
    const next = position.peekCall(call.id);
    if (next?.type === 'approval-requested') {
      const { question, by, preview } = next;
      return { type: 'ask', question, ...(by ? { by } : {}), ...(preview ? { preview } : {}) };
    }
    if (next?.type === 'tool-started')
      return next.input === undefined ? { type: 'allow' } : { type: 'rewrite', input: next.input };
    // The log replaces the result by the recorded one, with its reason.
    return { type: 'deny', reason: 'As recorded.' };
  };

/** The names that aliases had, by call. */
function findAliases({ path, calls }: Recording): ReadonlyMap<string, string> {
  const resolved = new Map(calls.map((call) => [call.id, call]));
  const aliases = new Map<string, string>();
  for (const event of path) {
    if (event.type !== 'turn-ended') continue;
    for (const part of event.message.parts) {
      if (part.type !== 'tool-call') continue;
      const target = unwrapDeferredCall(part);
      const call = resolved.get(part.id);
      if (typeof target === 'string' || !call || call.tool === target.tool) continue;
      aliases.set(getCallKey(target.tool, target.input), call.tool);
    }
  }
  return aliases;
}

const schemaErrorText =
  /^Your last answer does not fit the required schema: ([^]*) Answer with JSON that fits it, and nothing else\.$/;

/** Why the recorded answer did not fit the schema of the run, which the log does not have; undefined if it was accepted. */
function recordedSchemaError(position: ReplayPosition): string | undefined {
  const rejection = position.peek(1);
  if (rejection?.type !== 'answer-rejected' || rejection.why !== 'invalid') return undefined;
  return schemaErrorText.exec(rejection.text)?.[1] ?? rejection.text;
}
