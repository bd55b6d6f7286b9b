// Executes one turn: sends the request and records the response or the failure.
import { abortFailure, raceAbort } from './abort.ts';
import { answerFacts, type EndChunk } from './response-facts.ts';
import { FairleadError, errorMessage, toFailure } from './errors.ts';
import type { Fact, Note } from './fact.ts';
import { deliverableInputs } from './pending-inputs.ts';
import type { RunContext } from './loop.ts';
import { selectNotes } from './notes.ts';
import type { ResolvedAgent, Chunk } from './ports.ts';
import { renderRequest } from './render-request.ts';
import { partialAnswerCost } from './usage-totals.ts';
import type { RunState } from './state.ts';

/** Takes one turn. Everything in the request was recorded before it is sent; the response is recorded before it is final. */
export async function runTurn(agent: ResolvedAgent, context: RunContext): Promise<void> {
  const { writer } = context;
  const { notes, remarks } = collectNotes(agent, writer.state);
  await writer.record(
    (state) => {
      const inputs = deliverableInputs(state).map((each) => each.input);
      return [...remarks, { type: 'turn-started', turn: state.turn + 1, inputs, notes }];
    },
    { durable: true },
  );
  await writer.record(await requestAnswer(agent, context), { durable: true });
}

/** Returns the facts of the response or of its failure. Only provider errors are caught here, not log errors. */
async function requestAnswer(agent: ResolvedAgent, context: RunContext): Promise<readonly Fact[]> {
  const { clock, signal } = context;
  const { state } = context.writer;
  const since = clock();
  const spoken: string[] = [];
  try {
    const end = await raceAbort(signal, () => consumeStream(agent, context, spoken));
    return answerFacts(agent, state, end, clock() - since);
  } catch (thrown) {
    const error = signal.aborted ? abortFailure(signal) : toFailure(thrown, 'provider/unexpected', 'provider');
    const partial = spoken.join('');
    const reported = thrown instanceof FairleadError ? thrown : undefined;
    const cost = partial || reported?.usage ? partialAnswerCost(agent, state, partial, reported) : {};
    const cut = partial ? { partial } : {};
    return [{ type: 'turn-failed', turn: state.turn, error, ...cut, ...cost, ms: clock() - since }];
  }
}

/** Default max tokens of notes per turn. */
const defaultNoteTokens = 2000;

/** Returns the notes that the turn shows: the queue and the reminders. */
export function collectNotes(
  agent: ResolvedAgent,
  state: RunState,
): { readonly notes: readonly Note[]; readonly remarks: readonly Fact[] } {
  const notes: Note[] = [];
  const remarks: Fact[] = [];
  const most = state.limits?.turns ?? Number.POSITIVE_INFINITY;
  agent.reminders.forEach((reminder, i) => {
    try {
      const text: unknown = reminder(state.spent.turns + 1, most, state);
      if (!text) return;
      if (typeof text !== 'string') throw new TypeError('It gave no text.');
      notes.push({ key: `reminder-${i + 1}`, text });
    } catch (error) {
      const value = { reminder: i + 1, error: errorMessage(error) };
      remarks.push({ type: 'annotation-added', key: 'reminder-failed', value });
    }
  });
  return {
    notes: selectNotes([...state.queue, ...notes], state.turn + 1, agent.maxNoteTokens ?? defaultNoteTokens),
    remarks,
  };
}

/** Drains the response stream. */
async function consumeStream(
  agent: ResolvedAgent,
  { writer, signal, onChunk }: RunContext,
  spoken: string[],
): Promise<EndChunk> {
  const kinds: string[] = [];
  for await (const chunk of agent.provider.stream(renderRequest(writer.state, agent), signal)) {
    if (signal.aborted) break;
    if (chunk.type === 'end') return chunk;
    if (chunk.type === 'restarted') spoken.length = 0;
    else if (chunk.type === 'part-started') kinds[chunk.index] = chunk.part;
    else if (chunk.type === 'part-delta' && kinds[chunk.index] === 'text') spoken.push(chunk.text);
    emitChunk(onChunk, chunk);
  }
  throw new FairleadError('provider/cut', 'The answer ended before it was complete.', {
    blame: 'provider',
    retry: true,
  });
}

/** A listener that throws must not fail the turn. */
function emitChunk(live: RunContext['onChunk'], chunk: Chunk): void {
  try {
    live(chunk);
  } catch {
    // Ignored: the chunk was provisional.
  }
}
