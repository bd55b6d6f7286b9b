// The one gate: every call on every path is decided here, and whatever is unclear is denied.
import { messageOf } from './errors.ts';
import type { DecisionSource } from './fact.ts';
import { canonical, isJson, isObject, type Json } from './json.ts';
import type { AgentParts, Decision, Gate } from './ports.ts';
import type { Call, RunState } from './state.ts';

/** What the gates decided together. */
export type Ruling =
  | { readonly type: 'allow'; readonly input: Json }
  | { readonly type: 'ask'; readonly question: string; readonly by?: DecisionSource }
  | { readonly type: 'deny'; readonly reason: string; readonly by?: DecisionSource };

const mostRewrites = 8;

/** Asks every gate. A rewritten call passes them all again; a person's yes answers the question it was given for and no other. */
export async function decide(agent: AgentParts, call: Call, state: RunState): Promise<Ruling> {
  if (call.ask?.allowed === false)
    return { type: 'deny', reason: 'The user denied this tool call.', by: { kind: 'user' } };
  let now = call;
  for (let rewrites = 0; rewrites <= mostRewrites; rewrites++) {
    const decision = await firstObjection(agent, now, state);
    if (decision.type === 'allow') return { type: 'allow', input: now.input };
    if (decision.type !== 'rewrite') return decision;
    now = { ...now, input: decision.input };
  }
  return { type: 'deny', reason: 'The rules keep rewriting this call.' };
}

async function firstObjection(agent: AgentParts, call: Call, state: RunState): Promise<Decision> {
  let question: Decision | undefined;
  for (const gate of agent.gates) {
    const decision = await answerOf(gate, call, state);
    if (decision.type === 'deny') return decision;
    if (decision.type === 'rewrite' && canonical(decision.input) !== canonical(call.input)) return decision;
    if (decision.type === 'ask' && !call.granted?.includes(decision.question)) question ??= decision;
  }
  return question ?? { type: 'allow' };
}

/** What a gate says, where it can be understood. Gates are users' code: a word that is none of ours must not open the door. */
async function answerOf(gate: Gate, call: Call, state: RunState): Promise<Decision> {
  try {
    const said: unknown = await gate(call, state);
    const { type, reason, question, input } = isObject(said) ? said : {};
    const by = isObject(said) && isDecisionSource(said['by']) ? { by: said['by'] } : {};
    if (type === 'allow') return { type };
    if (type === 'ask' && typeof question === 'string') return { type, question, ...by };
    if (type === 'rewrite' && isJson(input)) return { type, input };
    if (type === 'deny')
      return { type, reason: typeof reason === 'string' ? reason : 'A rule denies this call.', ...by };
    const fault = type === 'rewrite' ? 'rewrote the call to what is not JSON' : 'gave no clear decision';
    return { type: 'deny', reason: `A rule ${fault}, so the call is denied.` };
  } catch (error) {
    return { type: 'deny', reason: `A rule failed, so the call is denied: ${messageOf(error)}` };
  }
}

/** Whether a value names what denied a call or asked about it. */
const isDecisionSource = (value: unknown): value is DecisionSource =>
  isObject(value) &&
  ['rule', 'hook', 'policy', 'permission', 'user'].includes(String(value['kind'])) &&
  (value['name'] === undefined || typeof value['name'] === 'string');
