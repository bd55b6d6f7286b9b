// Builds a fixture log from short steps, as the loop would have recorded it. The examples of rules use it.
import {
  callId,
  selectNotes,
  fold,
  epochStartedFact,
  runStateView,
  toArray,
  type Event,
  type Fact,
  type InputMode,
  type Json,
  type Limits,
  type NamedView,
  type ToolOutcome,
  type MessagePart,
  type Rule,
  type RunState,
  type Usage,
} from '../../core/index.ts';

/** A step of an example. Plain data, so that a file can contain it. */
export type ExampleStep =
  | { readonly said: string; readonly how?: InputMode; readonly window?: number }
  | { readonly answered: string; readonly usage?: Usage }
  | {
      readonly called: string;
      readonly input?: Json;
      readonly outcome?: ToolOutcome;
      readonly result?: string;
      readonly data?: Json;
      readonly usage?: Usage;
    }
  | { readonly compacted: true }
  | { readonly model: string }
  | { readonly pausedMinutes: number }
  | { readonly fact: Fact };

/** The resulting state and events. */
export type FixtureLog = { readonly state: RunState; readonly events: readonly Event[] };

type FixtureParts = { readonly rules?: readonly Rule[]; readonly views?: readonly NamedView<unknown>[] };

const fixtureLimits: Limits = { turns: 25, errors: 5, maxRetriesPerAnswer: 2, stuckAfter: 3, outputChars: 100_000 };
const fixtureStart = Date.UTC(2026, 0, 1, 12);

/** Builds a log of these steps with these rules and views. The last step produces the last event. */
export function buildFixtureLog(
  steps: readonly ExampleStep[],
  { rules = [], views = [] }: FixtureParts = {},
): FixtureLog {
  const view = runStateView(rules, views);
  const events: Event[] = [];
  let state = view.initial;
  let time = fixtureStart;
  const add = (facts: readonly Fact[]): void => {
    for (const fact of facts) {
      const seq = events.length + 1;
      time += 1000;
      const parent = events.at(-1)?.id ?? null;
      const event = { ...fact, seq, id: `e${seq}`, parent, time: new Date(time).toISOString() };
      events.push(event);
      state = fold(view, [event], state);
    }
  };
  add([
    { type: 'session-started', session: 'example', nonce: 'n0nce' },
    { type: 'epoch-started', epoch: 1, reason: 'started', system: '', tools: [], model: 'example' },
  ]);
  for (const step of steps) {
    if ('pausedMinutes' in step) time += step.pausedMinutes * 60_000;
    else for (const facts of stepFacts(step, () => state)) add(facts);
  }
  return { state, events };
}

/** Yields the facts of a step in batches: later ones may depend on the state after earlier ones. */
function* stepFacts(
  step: Exclude<ExampleStep, { readonly pausedMinutes: number }>,
  current: () => RunState,
): Generator<readonly Fact[]> {
  if ('fact' in step) return yield [step.fact];
  if ('compacted' in step) return yield [epochStartedFact(current(), 'compacted', toArray(current().messages))];
  if ('model' in step) return yield [{ ...epochStartedFact(current(), 'model-changed'), model: step.model }];
  if ('said' in step) {
    const { said, how = 'prompt', window } = step;
    yield [{ type: 'input-received', input: `i${current().seq}`, how, parts: [{ type: 'text', text: said }] }];
    const limits = window === undefined ? fixtureLimits : { ...fixtureLimits, context: window };
    if (how === 'prompt') yield [{ type: 'run-started', run: `r${current().seq}`, limits }];
    return;
  }
  yield [turnStartedFact(current())];
  if ('answered' in step) return yield [turnEndedFact(current(), [{ type: 'text', text: step.answered }], step.usage)];
  const { called: tool, input = {}, outcome = 'ok', result = 'Done.', data, usage } = step;
  const call = callId(current().turn, 0);
  yield [turnEndedFact(current(), [{ type: 'tool-call', id: call, tool, input }], usage)];
  if (outcome !== 'denied') yield [{ type: 'tool-started', call, tool, key: `example/${call}` }];
  yield [{ type: 'tool-ended', call, outcome, text: result, ms: 1, ...(data === undefined ? {} : { data }) }];
}

/** Creates the fact that starts a turn, with the inputs and notes it delivers. */
export const turnStartedFact = (state: RunState, maxNoteTokens = 2000): Fact => ({
  type: 'turn-started',
  turn: state.turn + 1,
  inputs: state.pending.map(({ input }) => input),
  notes: selectNotes(state.queue, state.turn + 1, maxNoteTokens),
});

/** Creates the fact that ends a turn with an answer of these parts. */
export const turnEndedFact = (
  state: RunState,
  parts: readonly MessagePart[],
  usage: Usage = { input: 100, output: 10 },
): Fact => ({
  type: 'turn-ended',
  turn: state.turn,
  message: { role: 'assistant', parts },
  finishReason: parts.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop',
  usage,
  usd: 0,
  model: state.model,
  ms: 1,
});
