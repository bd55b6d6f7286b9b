// Crash recovery of a non-idempotent call: asks the tool (`checkOutcome`), then the user. Never re-runs it blindly.
import { errorMessage } from './errors.ts';
import type { Fact } from './fact.ts';
import type { Json } from './json.ts';
import { markUntrusted, toolResultFact } from './tool-result.ts';
import type { ResolvedAgent, Tool, ToolContext } from './ports.ts';
import { renderToolOutput } from './render-tool-output.ts';
import type { ToolCall, RunState } from './state.ts';

/** A call with a recorded start and no recorded end. */
export type UnknownOutcomeCall = { readonly call: ToolCall; readonly tool: Tool; readonly key: string };

/** Returns the fact that ends the call or asks about it; undefined if it may run again with the same idempotency key. */
export async function resolveUnknownOutcome(
  agent: ResolvedAgent,
  { call, tool, key }: UnknownOutcomeCall,
  state: RunState,
  signal: AbortSignal,
): Promise<Fact | undefined> {
  const { ask } = call;
  // A gate may have asked its own question since.
  if (call.again) return undefined;
  if (ask?.kind === 'unknown-outcome' && ask.allowed !== undefined) {
    if (ask.happened) return outcomeFact(call, 'ok', `The user confirmed that ${tool.name} took effect.`);
    return unknownOutcomeFact(call, tool);
  }
  const found = await checkToolOutcome(tool, call.sent ?? call.input, { signal, key, call, agent, state });
  if (found.type === 'did-not-happen') return undefined;
  if (found.type === 'happened') {
    const maxChars = state.limits?.outputChars ?? 100_000;
    const fact = toolResultFact(call.id, found.value, maxChars, 0, (output) => renderToolOutput(agent, call, output));
    return tool.untrustedOutput === true ? markUntrusted(fact, state.nonce, agent.spotlight) : fact;
  }
  if (agent.onUnknownOutcome !== 'ask') return unknownOutcomeFact(call, tool);
  return {
    type: 'approval-requested',
    call: call.id,
    question: unknownOutcomeQuestion(tool.name, call, found.why),
    kind: 'unknown-outcome',
  };
}

/** The question to the user about a call that may have taken effect. */
export const unknownOutcomeQuestion = (tool: string, call: ToolCall, why = ''): string =>
  `The program stopped while ${tool} was running with ${JSON.stringify(call.sent ?? call.input)}: it may or may not have happened.${why} Run it again?`;

type OutcomeCheck =
  | { readonly type: 'happened'; readonly value: unknown }
  | { readonly type: 'did-not-happen' }
  | { readonly type: 'cannot-tell'; readonly why: string };

/** Asks the tool. If `checkOutcome` throws, the outcome stays unknown. */
async function checkToolOutcome(tool: Tool, input: Json, context: ToolContext): Promise<OutcomeCheck> {
  if (!tool.checkOutcome) return { type: 'cannot-tell', why: '' };
  try {
    const value = await tool.checkOutcome(input, context);
    if (value === undefined) return { type: 'cannot-tell', why: ' The tool itself cannot tell.' };
    return value === false ? { type: 'did-not-happen' } : { type: 'happened', value };
  } catch (error) {
    return { type: 'cannot-tell', why: ` The tool itself could not find out: ${errorMessage(error)}` };
  }
}

const outcomeFact = (call: ToolCall, outcome: 'ok' | 'unknown', text: string): Fact => ({
  type: 'tool-ended',
  call: call.id,
  outcome,
  text,
  ms: 0,
});

const unknownOutcomeFact = (call: ToolCall, tool: Tool): Fact =>
  outcomeFact(
    call,
    'unknown',
    `The program stopped while ${tool.name} was running: its effect may or may not have happened. It was not run again. Find out before you repeat it.`,
  );
