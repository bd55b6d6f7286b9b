// A call that was under way when the program stopped: its tool may know what came of it, or a person; it is never simply made again.
import { messageOf } from './errors.ts';
import type { Fact } from './fact.ts';
import type { Json } from './json.ts';
import { resultOf } from './output.ts';
import type { AgentParts, Tool, ToolContext } from './ports.ts';
import { renderedBy } from './renderers.ts';
import type { Call, RunState } from './state.ts';

/** A call whose intent is in the log and whose outcome is not. */
export type Unsure = { readonly call: Call; readonly tool: Tool; readonly key: string };

/** What becomes of such a call: the fact that says so, or nothing where it is to be made again under the same key. */
export async function clearUp(
  agent: AgentParts,
  { call, tool, key }: Unsure,
  state: RunState,
  signal: AbortSignal,
): Promise<Fact | undefined> {
  const { ask } = call;
  // A gate may have had a question of its own since.
  if (call.again) return undefined;
  if (ask?.kind === 'unknown-outcome' && ask.allowed !== undefined) {
    if (ask.happened) return ended(call, 'ok', `A person has confirmed that ${tool.name} has done this.`);
    return unknown(call, tool);
  }
  const found = await confirmed(tool, call.sent ?? call.input, { signal, key, call, agent, state });
  if (found.type === 'did-not-happen') return undefined;
  if (found.type === 'happened') {
    const most = state.limits?.outputChars ?? 100_000;
    return resultOf(call.id, found.value, most, 0, (given) => renderedBy(agent, call, given));
  }
  if (agent.unsure !== 'ask') return unknown(call, tool);
  return {
    type: 'approval-requested',
    call: call.id,
    question: outcomeQuestion(tool.name, call, found.why),
    kind: 'unknown-outcome',
  };
}

/** What a person is asked about a call that may have been made. */
export const outcomeQuestion = (tool: string, call: Call, why = ''): string =>
  `The program stopped while ${tool} was at work with ${JSON.stringify(call.sent ?? call.input)}: it may or may not have happened.${why} Run it again?`;

type Found =
  | { readonly type: 'happened'; readonly value: unknown }
  | { readonly type: 'did-not-happen' }
  | { readonly type: 'cannot-tell'; readonly why: string };

/** What the tool itself can find out. One that fails at it knows nothing. */
async function confirmed(tool: Tool, input: Json, context: ToolContext): Promise<Found> {
  if (!tool.confirm) return { type: 'cannot-tell', why: '' };
  try {
    const value = await tool.confirm(input, context);
    if (value === undefined) return { type: 'cannot-tell', why: ' The tool itself cannot tell.' };
    return value === false ? { type: 'did-not-happen' } : { type: 'happened', value };
  } catch (error) {
    return { type: 'cannot-tell', why: ` The tool itself could not find out: ${messageOf(error)}` };
  }
}

const ended = (call: Call, outcome: 'ok' | 'unknown', text: string): Fact => ({
  type: 'tool-ended',
  call: call.id,
  outcome,
  text,
  ms: 0,
});

const unknown = (call: Call, tool: Tool): Fact =>
  ended(
    call,
    'unknown',
    `The program stopped while ${tool.name} was at work: its effect may or may not have happened. It was not run again. Find out before you repeat it.`,
  );
