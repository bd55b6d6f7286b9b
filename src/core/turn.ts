// Executes one turn: sends the request and records the response or the failure.
import { abortFailure, raceAbort } from './abort.ts';
import { answerFacts, type EndChunk } from './response-facts.ts';
import { FairleadError, errorMessage, toFailure } from './errors.ts';
import type { Fact, Note } from './fact.ts';
import { deliverableInputs } from './pending-inputs.ts';
import type { RunContext } from './loop.ts';
import { selectNotes } from './notes.ts';
import type { ResolvedAgent, Chunk } from './ports.ts';
import { retryFact } from './retry-notice.ts';
import { renderRequest } from './render-request.ts';
import { partialAnswerCost } from './usage-totals.ts';
import type { RunState } from './state.ts';

/** Runs one turn. Everything in the request was recorded before it is sent; the response is recorded before it is final. */
export async function runTurn(agent: ResolvedAgent, context: RunContext): Promise<void> {
  const { writer } = context;
  const { notes, annotations } = collectNotes(agent, writer.state);
  await writer.record(
    (state) => {
      const inputs = deliverableInputs(state).map((each) => each.input);
      return [...annotations, { type: 'turn-started', turn: state.turn + 1, inputs, notes }];
    },
    { durable: true },
  );
  await writer.record(await requestAnswer(agent, context), { durable: true });
}

/** Returns the facts of the response or of its failure. Only provider errors are caught here, not log errors. */
async function requestAnswer(agent: ResolvedAgent, context: RunContext): Promise<readonly Fact[]> {
  const { clock, signal } = context;
  const { state } = context.writer;
  const startedAt = clock();
  const received: ReceivedText = { chunks: [], discarded: '' };
  try {
    const end = await raceAbort(signal, () => consumeStream(agent, context, received));
    return answerFacts(agent, state, end, clock() - startedAt);
  } catch (thrown) {
    const error = signal.aborted ? abortFailure(signal) : toFailure(thrown, 'provider/unexpected', 'provider');
    // A later attempt that failed before its first text does not void the text that the user has read.
    const partial = received.chunks.join('') || received.discarded;
    const reported = thrown instanceof FairleadError ? thrown : undefined;
    const cost = partial || reported?.usage ? partialAnswerCost(agent, state, partial, reported) : {};
    const partialField = partial ? { partial } : {};
    return [{ type: 'turn-failed', turn: state.turn, error, ...partialField, ...cost, ms: clock() - startedAt }];
  }
}

/** Default max tokens of notes per turn. */
const defaultNoteTokens = 2000;

/** Returns the notes that the turn shows: the queue and the reminders. */
export function collectNotes(
  agent: ResolvedAgent,
  state: RunState,
): { readonly notes: readonly Note[]; readonly annotations: readonly Fact[] } {
  const notes: Note[] = [];
  const annotations: Fact[] = [];
  const maxTurns = state.limits?.turns ?? Number.POSITIVE_INFINITY;
  agent.reminders.forEach((reminder, i) => {
    try {
      const text: unknown = reminder(state.spent.turns + 1, maxTurns, state);
      if (!text) return;
      if (typeof text !== 'string') throw new TypeError('It returned no text.');
      notes.push({ key: `reminder-${i + 1}`, text });
    } catch (error) {
      const value = { reminder: i + 1, error: errorMessage(error) };
      annotations.push({ type: 'annotation-added', key: 'reminder-failed', value });
    }
  });
  return {
    notes: selectNotes([...state.queue, ...notes], state.turn + 1, agent.maxNoteTokens ?? defaultNoteTokens),
    annotations,
  };
}

/** The text of a response so far, and that of the previous attempt. */
type ReceivedText = { readonly chunks: string[]; discarded: string };

/** Reads the response stream to its end chunk. Its text is collected, so that a failed turn can record it. */
async function consumeStream(
  agent: ResolvedAgent,
  { writer, signal, onChunk }: RunContext,
  received: ReceivedText,
): Promise<EndChunk> {
  const kinds: string[] = [];
  for await (const chunk of agent.provider.stream(renderRequest(writer.state, agent), signal)) {
    if (signal.aborted) break;
    if (chunk.type === 'end') return chunk;
    if (chunk.type === 'restarted') {
      received.discarded = received.chunks.splice(0).join('') || received.discarded;
      // Not awaited: appends are serialized, and if the store fails, the append of the turn's end fails too.
      writer.record([retryFact(chunk)]).catch(() => {});
    }
    if (chunk.type === 'part-started') kinds[chunk.index] = chunk.part;
    else if (chunk.type === 'part-delta' && kinds[chunk.index] === 'text') received.chunks.push(chunk.text);
    emitChunk(onChunk, chunk);
  }
  throw new FairleadError('provider/cut', 'The connection to the model dropped mid-answer.', {
    blame: 'provider',
    retry: true,
  });
}

/** A listener that throws must not fail the turn. */
function emitChunk(onChunk: RunContext['onChunk'], chunk: Chunk): void {
  try {
    onChunk(chunk);
  } catch {
    // Ignored: the chunk was provisional.
  }
}
