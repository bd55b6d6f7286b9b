// Evaluates all gates for a tool call. Every call on every path passes here; an unclear decision denies.
import { isApprovalPreview, type ApprovalPreview } from './approval-preview.ts';
import { errorMessage } from './errors.ts';
import type { DecisionSource } from './fact.ts';
import { canonicalJson, isJson, isObject, type Json } from './json.ts';
import type { ResolvedAgent, Decision, Gate, GateAnnotation, Tool } from './ports.ts';
import type { ToolCall, RunState } from './state.ts';
import { truncateMiddle } from './tool-result.ts';

/** The combined decision of all gates, and what they did to decide. */
export type GateResult = { readonly annotations?: readonly GateAnnotation[] } & (
  | { readonly type: 'allow'; readonly input: Json }
  | {
      readonly type: 'ask';
      readonly question: string;
      readonly by?: DecisionSource;
      readonly preview?: ApprovalPreview;
    }
  | { readonly type: 'deny'; readonly reason: string; readonly by?: DecisionSource }
);

const maxRewrites = 8;

/** Evaluates every gate: deny wins, then ask. A call that repeats an effect with an unknown outcome always asks. A rewritten call is evaluated again by all gates. An approval applies only to the question it was given for. */
export async function evaluateGates(agent: ResolvedAgent, call: ToolCall, state: RunState): Promise<GateResult> {
  if (call.ask?.allowed === false) return { type: 'deny', reason: userDenial(call.ask.reason), by: { kind: 'user' } };
  let current = call;
  const collected: GateAnnotation[] = [];
  for (let rewrites = 0; rewrites <= maxRewrites; rewrites++) {
    const decision = await evaluateOnce(agent, current, state, call.input, collected);
    const annotations = collected.length > 0 ? { annotations: collected } : {};
    if (decision.type === 'allow') return { type: 'allow', input: current.input, ...annotations };
    if (decision.type !== 'rewrite') return { ...decision, ...annotations };
    current = { ...current, input: decision.input };
  }
  return { type: 'deny', reason: 'The gates keep rewriting this call.' };
}

const userDenial = (reason: string | undefined): string =>
  reason === undefined ? 'Denied by user.' : `Denied by user: ${reason}`;

/** The gate of a tool that needs approval. The question contains the input, so a rewritten input needs a new approval. */
function toolApprovalGate(tool: Tool | undefined): Gate | undefined {
  if (!tool?.needsApproval) return undefined;
  return async ({ input }, state) => {
    const need: unknown = await tool.needsApproval?.(input, state);
    if (need === false) return { type: 'allow' };
    const question = approvalQuestion(tool, input);
    return {
      type: 'ask',
      question: typeof need === 'string' ? `${question}\n${need}\n${askedEachTimeText}` : question,
    };
  };
}

/** The question about a call that no gate describes. */
export const approvalQuestion = ({ name }: Tool, input: Json): string =>
  `Run ${name} with ${truncateMiddle(canonicalJson(input), 2000)}?`;

/** The last line of a question that an earlier approval of the same call does not answer. */
export const askedEachTimeText = 'This is asked each time.';

/** Whether a question is about more than the call shows, so that an approval of the same call before does not answer it. */
export const needsApprovalEachTime = (question: string): boolean => question.endsWith(askedEachTimeText);

async function evaluateOnce(
  agent: ResolvedAgent,
  call: ToolCall,
  state: RunState,
  given: Json,
  collected: GateAnnotation[],
): Promise<Decision> {
  const repeated = state.unknownCalls?.length
    ? (await import('./repeated-effect.ts')).findRepeatedEffect(agent, call, given, state)
    : undefined;
  const asks: (Decision & { readonly type: 'ask' })[] = [];
  const approval = toolApprovalGate(agent.tools.get(call.tool));
  for (const gate of approval ? [...agent.gates, approval] : agent.gates) {
    const { annotations = [], ...decision } = await callGate(gate, call, state);
    collected.push(...annotations);
    if (decision.type === 'deny') return decision;
    if (decision.type === 'rewrite' && canonicalJson(decision.input) !== canonicalJson(call.input)) return decision;
    if (decision.type === 'ask') asks.push(repeated?.addReason(decision) ?? decision);
  }
  if (repeated?.ask && asks.length === 0) return repeated.ask;
  return asks.find(({ question }) => !call.granted?.includes(question)) ?? { type: 'allow' };
}

/** Validates the decision of a gate. Gates are user code: anything but a well-formed decision denies the call. */
async function callGate(gate: Gate, call: ToolCall, state: RunState): Promise<Decision> {
  try {
    const result: unknown = await gate(call, state);
    const { type, reason, question, input, preview } = isObject(result) ? result : {};
    const by = isObject(result) && isDecisionSource(result['by']) ? { by: result['by'] } : {};
    const given = isObject(result) ? result['annotations'] : undefined;
    const noted = given ? (await import('./gate-annotations.ts')).parseAnnotations(given) : {};
    if (type === 'allow') return { type, ...noted };
    if (type === 'ask' && typeof question === 'string')
      return { type, question, ...by, ...noted, ...(isApprovalPreview(preview) ? { preview } : {}) };
    if (type === 'rewrite' && isJson(input)) return { type, input, ...noted };
    if (type === 'deny')
      return { type, reason: typeof reason === 'string' ? reason : 'A gate denies this call.', ...by, ...noted };
    const fault = type === 'rewrite' ? 'rewrote the call to a value that is not JSON' : 'returned no valid decision';
    return { type: 'deny', reason: `A gate ${fault}, so the call is denied.` };
  } catch (error) {
    return { type: 'deny', reason: `A gate failed, so the call is denied: ${errorMessage(error)}` };
  }
}

/** Whether a value names what denied a call or asked about it. */
const isDecisionSource = (value: unknown): value is DecisionSource =>
  isObject(value) &&
  ['rule', 'hook', 'policy', 'permission', 'flow', 'dlp', 'user'].includes(String(value['kind'])) &&
  (value['name'] === undefined || typeof value['name'] === 'string');
