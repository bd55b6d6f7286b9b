// One turn: ask the model, and write down the answer or why there is none.
import { stopped, unlessAborted } from './abort.ts';
import { FairleadError, toFailure } from './errors.ts';
import type { Fact, Note, Rejection } from './fact.ts';
import { inOrder } from './notes.ts';
import { isJson } from './json.ts';
import { callsOf, textOf, type CallPart, type Message, type Part, type Usage } from './message.ts';
import type { AgentParts, Chunk } from './ports.ts';
import { render } from './render.ts';
import { costOf } from './spending.ts';
import type { RunState } from './state.ts';
import { estimate, wordsIn } from './tokens.ts';
import type { RunContext } from './loop.ts';
import { isUsage } from './usage.ts';

type End = Chunk & { readonly type: 'end' };

/** Takes one turn. Everything it sends was written down and settled before; everything it returns was settled before it is shown as final. */
export async function takeTurn(agent: AgentParts, context: RunContext): Promise<void> {
  const { head, clock } = context;
  const { notes, remarks } = remind(agent, head.state);
  await head.record(
    (state) => [...remarks, { type: 'turn-started', turn: state.turn + 1, inputs: deliverable(state), notes }],
    { settle: true },
  );
  const turn = head.state.turn;
  const since = clock();
  const spoken: string[] = [];
  try {
    const end = await unlessAborted(context.signal, () => drain(agent, context, spoken));
    const message = accept(end, turn);
    const ended: Fact = {
      type: 'turn-ended',
      turn,
      message,
      finish: end.finish,
      ...bill(agent, head.state, end, message),
      model: end.model,
      ms: clock() - since,
    };
    const why = rejection(agent, head.state, message, end.finish);
    await head.record(why ? [ended, { type: 'answer-rejected', ...why }] : [ended], { settle: true });
  } catch (error) {
    if (error instanceof FairleadError && error.blame === 'store') throw error;
    const failed = context.signal.aborted
      ? stopped(context.signal)
      : toFailure(error, 'provider/unexpected', 'provider');
    const partial = spoken.join('');
    await head.record(
      [{ type: 'turn-failed', turn, error: failed, ...(partial ? { partial } : {}), ms: clock() - since }],
      { settle: true },
    );
  }
}

/** Steering and prompts go in together; a follow-up waits until nothing else is due, and goes in alone. */
function deliverable(state: RunState): readonly string[] {
  const now = state.pending.filter((input) => input.how !== 'follow-up');
  if (now.length || state.due) return now.map((input) => input.input);
  return state.pending.slice(0, 1).map((input) => input.input);
}

function remind(
  agent: AgentParts,
  state: RunState,
): { readonly notes: readonly Note[]; readonly remarks: readonly Fact[] } {
  const notes: Note[] = [];
  const remarks: Fact[] = [];
  const most = state.limits?.turns ?? Number.POSITIVE_INFINITY;
  agent.reminders.forEach((reminder, i) => {
    try {
      const text = reminder(state.spent.turns + 1, most, state);
      if (text) notes.push({ key: `reminder-${i + 1}`, text });
    } catch (error) {
      remarks.push({ type: 'remark-made', key: 'reminder-failed', value: { reminder: i + 1, error: String(error) } });
    }
  });
  return { notes: inOrder([...state.queue, ...notes]), remarks };
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
    live(chunk);
  }
  throw new FairleadError('provider/cut', 'The answer broke off before its end.', { blame: 'provider', retry: true });
}

/** What the answer used and cost. Where the provider did not say, or said what cannot be true, we estimate and mark it. */
function bill(
  agent: AgentParts,
  state: RunState,
  end: End,
  message: Message,
): { readonly usage: Usage; readonly usd?: number; readonly estimated?: boolean } {
  const usage = isUsage(end.usage) ? end.usage : {};
  const { price } = agent.provider;
  const usd = usage === end.usage ? (end.usd ?? (price && costOf(price, usage))) : undefined;
  if (usd !== undefined) return { usage, usd };
  const guess = price && costOf(price, { input: state.context, output: estimate(wordsIn(message)) });
  return guess === undefined ? { usage } : { usage, usd: guess, estimated: true };
}

/** Gives each call an id that is unique in the session and legal in every dialect, and drops what a cut answer left half done. */
function accept(end: End, turn: number): Message {
  let count = 0;
  const parts = end.message.parts.flatMap((part): readonly Part[] => {
    if (part.type === 'tool-call')
      return end.finish === 'length' ? [] : [{ ...readable(part), id: callId(turn, count++) }];
    return part.type === 'text' && part.text === '' && !part.meta ? [] : [part];
  });
  const says = parts.some((part) => part.type === 'tool-call' || (part.type === 'text' && part.text.trim() !== ''));
  return { role: 'assistant', parts: says ? parts : [] };
}

/** A call whose arguments no reader could take is kept as one that never runs. */
const readable = (part: CallPart): CallPart =>
  isJson(part.input)
    ? part
    : { ...part, input: {}, invalid: part.invalid ?? 'they are nested too deep, or hold what JSON has not.' };

/** The id of a turn's n-th call: nine letters and digits, the narrowest rule any dialect has. */
export const callId = (turn: number, index: number): string =>
  `c${turn.toString(36).padStart(5, '0')}${index.toString(36).padStart(3, '0')}`;

function rejection(
  agent: AgentParts,
  state: RunState,
  message: Message,
  finish: string,
): { readonly why: Rejection; readonly text: string } | undefined {
  if (finish === 'refusal')
    return {
      why: 'refused',
      text: 'Your last answer was a refusal. If there is a part of the task you can do, do that part and say what you left out and why.',
    };
  if (finish === 'filtered')
    return { why: 'filtered', text: 'Your last answer was withheld by a content filter. Answer again in other words.' };
  if (finish === 'length' || callsOf(message).length) return undefined;
  if (message.parts.length === 0) return { why: 'empty', text: 'Your last answer was empty. Answer the user now.' };
  if (state.choice !== 'auto' && state.choice !== 'none') {
    return {
      why: 'no-call',
      text:
        state.choice === 'required'
          ? 'Answer with a tool call.'
          : `Answer with a call of the tool ${state.choice.tool}.`,
    };
  }
  const wrong = agent.answer?.check(textOf(message));
  return wrong === undefined
    ? undefined
    : {
        why: 'invalid',
        text: `Your last answer does not fit the required schema: ${wrong} Answer with JSON that fits it, and nothing else.`,
      };
}
