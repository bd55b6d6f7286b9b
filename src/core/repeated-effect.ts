// Finds a call that repeats an effect whose outcome is unknown, so that it runs only with an approval.
import { unwrapDeferredCall, withToolName } from './calls.ts';
import { approvalQuestion, askedEachTimeText } from './evaluate-gates.ts';
import { canonicalJson, type Json } from './json.ts';
import type { Decision, ResolvedAgent } from './ports.ts';
import type { ToolCall, RunState } from './state.ts';

const repeatedEffectReason = 'An earlier call with the same input was interrupted; it may have happened.';
const questionEnd = `\n${repeatedEffectReason}\n${askedEachTimeText}`;

type Ask = Decision & { readonly type: 'ask' };

/** How the questions about a repeated effect differ from those of the gates. */
export type RepeatedEffect = {
  /** Adds the reason to the question of a gate. */
  readonly addReason: (ask: Ask) => Ask;
  /** The question if no gate asks; undefined if the user has approved a question with the reason. */
  readonly ask: Ask | undefined;
};

/** Returns a value if the session has the same call with an unknown outcome. `given` is the input before gates rewrote it. */
export function findRepeatedEffect(
  agent: ResolvedAgent,
  call: ToolCall,
  given: Json,
  { unknownCalls = [] }: RunState,
): RepeatedEffect | undefined {
  const tool = agent.tools.get(call.tool);
  if (!tool || tool.effect === 'read') return undefined;
  const inputs = new Set([call.input, given].map((each) => canonicalJson(each)));
  const isRepeated = unknownCalls.some((earlier) => {
    const unwrapped = unwrapDeferredCall(earlier);
    const target = typeof unwrapped === 'string' ? earlier : withToolName(agent, unwrapped);
    if (target.tool !== tool.name) return false;
    return [target.input, earlier.sent ?? target.input].some((each) => inputs.has(canonicalJson(each)));
  });
  if (!isRepeated) return undefined;
  const isApproved = call.granted?.some((question) => question.endsWith(questionEnd));
  return {
    addReason,
    ask: isApproved ? undefined : addReason({ type: 'ask', question: approvalQuestion(tool, call.input) }),
  };
}

const addReason = ({ question, preview, ...ask }: Ask): Ask => ({
  ...ask,
  question: question.replace(`\n${askedEachTimeText}`, '') + questionEnd,
  ...(preview ? { preview: { ...preview, notes: [...preview.notes, repeatedEffectReason] } } : {}),
});
