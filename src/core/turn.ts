// One turn: ask the model, and write down the answer or why there is none.
import { stopped, unlessAborted } from './abort.ts';
import { answerFacts, type End } from './answer.ts';
import { FairleadError, messageOf, toFailure } from './errors.ts';
import type { Fact, Note } from './fact.ts';
import { deliverable } from './inputs.ts';
import type { RunContext } from './loop.ts';
import { flush } from './notes.ts';
import type { AgentParts, Chunk } from './ports.ts';
import { render } from './render.ts';
import { billCut } from './spending.ts';
import type { RunState } from './state.ts';

/** Takes one turn. Everything it sends was written down and settled before; everything it returns was settled before it is shown as final. */
export async function takeTurn(agent: AgentParts, context: RunContext): Promise<void> {
  const { head } = context;
  const { notes, remarks } = remind(agent, head.state);
  await head.record(
    (state) => {
      const inputs = deliverable(state).map((each) => each.input);
      return [...remarks, { type: 'turn-started', turn: state.turn + 1, inputs, notes }];
    },
    { settle: true },
  );
  await head.record(await ask(agent, context), { settle: true });
}

/** The facts of the answer, or of its failure. Only what the provider does can fail here: the log's own errors are not a turn's. */
async function ask(agent: AgentParts, context: RunContext): Promise<readonly Fact[]> {
  const { clock, signal } = context;
  const { state } = context.head;
  const since = clock();
  const spoken: string[] = [];
  try {
    const end = await unlessAborted(signal, () => drain(agent, context, spoken));
    return answerFacts(agent, state, end, clock() - since);
  } catch (thrown) {
    const error = signal.aborted ? stopped(signal) : toFailure(thrown, 'provider/unexpected', 'provider');
    const partial = spoken.join('');
    const cut = partial ? { partial, ...billCut(agent, state, partial) } : {};
    return [{ type: 'turn-failed', turn: state.turn, error, ...cut, ms: clock() - since }];
  }
}

/** Tokens of notes that one turn may show: more would drown what was asked. */
const usualAllowance = 2000;

/** What a turn that begins now shows: the queue, and what the reminders say of it. */
export function remind(
  agent: AgentParts,
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
      const value = { reminder: i + 1, error: messageOf(error) };
      remarks.push({ type: 'annotation-added', key: 'reminder-failed', value });
    }
  });
  return { notes: flush([...state.queue, ...notes], state.turn + 1, agent.noteTokens ?? usualAllowance), remarks };
}

/** Drains the stream. */
async function drain(agent: AgentParts, { head, signal, live }: RunContext, spoken: string[]): Promise<End> {
  const kinds: string[] = [];
  for await (const chunk of agent.provider.stream(render(head.state, agent), signal)) {
    if (signal.aborted) break;
    if (chunk.type === 'end') return chunk;
    if (chunk.type === 'restarted') spoken.length = 0;
    else if (chunk.type === 'part-started') kinds[chunk.index] = chunk.part;
    else if (chunk.type === 'part-delta' && kinds[chunk.index] === 'text') spoken.push(chunk.text);
    show(live, chunk);
  }
  throw new FairleadError('provider/cut', 'The answer broke off before its end.', { blame: 'provider', retry: true });
}

/** An onlooker that fails must not fail the turn. */
function show(live: RunContext['live'], chunk: Chunk): void {
  try {
    live(chunk);
  } catch {
    // The chunk was provisional; the fact that settles it is still to come.
  }
}
