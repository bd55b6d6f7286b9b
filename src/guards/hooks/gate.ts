// PreToolUse hooks beside the gate: the stricter wins, and a hook that gives no answer denies.
import {
  unwrapDeferredCall,
  canonicalJson,
  escapeReminderTags,
  type ToolCall,
  type Decision,
  type Gate,
  type RunState,
} from '../../core/index.ts';
import { askAbout, nameOf, type HookGround, type HookSaid } from './desk.ts';

/** How the refusal of a hook that ends the run begins. */
export const halting = 'A hook ended the run';

/** The gate with the hooks beside it: their yes answers its question, never its no. */
export function hookedGate(ground: HookGround, gate: Gate): Gate {
  const guards = ground.hooks.some(({ event }) => event === 'PreToolUse');
  if (!guards) return gate;
  /** What was decided of a call, by its input: a question, and a rewriting, bring the same call here again. */
  const known = new Map<string, Map<string, Decision>>();
  return async (call, state) => {
    const input = canonicalJson(call.input);
    if (isFirst(call, input, state)) known.set(call.id, new Map());
    const before = known.get(call.id) ?? new Map<string, Decision>();
    known.set(call.id, before);
    const hooked = before.get(input) ?? (await decisionOf(ground, call, state));
    before.set(input, hooked);
    // What a hook wrote itself, it has judged.
    if (hooked.type === 'rewrite')
      before.set(canonicalJson(hooked.input), said(hooked) ? spokenAllow : { type: 'allow' });
    if (hooked.type === 'deny' || hooked.type === 'rewrite') return hooked;
    const own = await gate(call, state);
    if (own.type === 'deny' || own.type === 'rewrite') return own;
    if (hooked.type === 'ask')
      return own.type === 'ask' ? { ...own, question: `${own.question}\n${hooked.question}` } : hooked;
    return own.type === 'ask' && said(hooked) ? { type: 'allow' } : own;
  };
}

/** An allow that a hook spoke, rather than one that nobody objected to. */
type Spoken = Decision & { readonly spoken: true };

const said = (decision: Decision): decision is Spoken => 'spoken' in decision;

const spokenAllow: Spoken = { type: 'allow', spoken: true };

/** Whether this is where the judging of a call begins, and not a step on the way. */
function isFirst(call: ToolCall, input: string, { calls }: RunState): boolean {
  if (call.ask) return false;
  const open = calls.find(({ id }) => id === call.id);
  const aim = open && unwrapDeferredCall(open);
  return aim === undefined || typeof aim === 'string' || canonicalJson(aim.input) === input;
}

async function decisionOf(ground: HookGround, call: ToolCall, state: RunState): Promise<Decision | Spoken> {
  const answers = await askAbout(ground, 'PreToolUse', call, {}, state.session);
  for (const answered of answers) {
    const denied = objectionOf(answered);
    if (denied === undefined) continue;
    const { hook, answer } = answered;
    const endsRun = answer.trouble === undefined && answer.stop !== undefined ? { endsRun: true } : {};
    return { type: 'deny', reason: escapeReminderTags(denied), by: { kind: 'hook', name: nameOf(hook), ...endsRun } };
  }
  const asking = answers.find(({ answer }) => answer.permission === 'ask');
  if (asking)
    return {
      type: 'ask',
      question: `A hook asks about ${call.tool}: ${asking.answer.reason ?? 'no reason given.'}`,
      by: { kind: 'hook', name: nameOf(asking.hook) },
    };
  const decision = rewritten(answers.findLast(({ answer }) => answer.input !== undefined));
  return answers.some(({ answer }) => answer.permission === 'allow') ? { ...decision, spoken: true } : decision;
}

function rewritten(changed: HookSaid | undefined): Decision {
  if (!changed) return { type: 'allow' };
  const { hook, guise, answer } = changed;
  if (guise?.back && answer.input) return { type: 'rewrite', input: guise.back(answer.input) };
  return {
    type: 'deny',
    reason: `The hook ${nameOf(hook)} changes the input of a call that cannot be changed so.`,
    by: { kind: 'hook', name: nameOf(hook) },
  };
}

function objectionOf({ hook, answer }: HookSaid): string | undefined {
  if (answer.trouble !== undefined)
    return `The hook ${nameOf(hook)} guards this call and gave no answer, so nothing was run: ${answer.trouble}.`;
  if (answer.stop !== undefined) return `${halting}, so nothing was run: ${answer.stop}`;
  return answer.block === undefined
    ? undefined
    : `The hook ${nameOf(hook)} does not allow this call, so nothing was run: ${answer.block}`;
}
