// Combines PreToolUse hooks with a gate: the stricter decision wins, and a hook that fails denies the call.
import {
  unwrapDeferredCall,
  canonicalJson,
  escapeReminderTags,
  type ToolCall,
  type Decision,
  type Gate,
  type RunState,
} from '../../core/index.ts';
import { runToolHooks, hookLabel, type HookContext, type HookResult } from './run-hooks.ts';

/** The prefix of the denial reason of a hook that ends the run. */
export const haltPrefix = 'A hook ended the run';

/** Adds the hooks to a gate. An explicit allow of a hook answers a question of the gate, but never overrides a denial. */
export function withPreToolHooks(ground: HookContext, gate: Gate): Gate {
  const guards = ground.hooks.some(({ event }) => event === 'PreToolUse');
  if (!guards) return gate;
  /** Decisions by call and input: an approval question or a rewrite evaluates the same call again. */
  const known = new Map<string, Map<string, Decision>>();
  return async (call, state) => {
    const input = canonicalJson(call.input);
    if (isFirstEvaluation(call, input, state)) known.set(call.id, new Map());
    const before = known.get(call.id) ?? new Map<string, Decision>();
    known.set(call.id, before);
    const hooked = before.get(input) ?? (await decideByHooks(ground, call, state));
    before.set(input, hooked);
    // A hook has already approved what it wrote itself.
    if (hooked.type === 'rewrite')
      before.set(canonicalJson(hooked.input), isExplicit(hooked) ? explicitAllow : { type: 'allow' });
    if (hooked.type === 'deny' || hooked.type === 'rewrite') return hooked;
    const own = await gate(call, state);
    if (own.type === 'deny' || own.type === 'rewrite') return own;
    if (hooked.type === 'ask')
      return own.type === 'ask' ? { ...own, question: `${own.question}\n${hooked.question}` } : hooked;
    return own.type === 'ask' && isExplicit(hooked) ? { type: 'allow' } : own;
  };
}

/** An allow that a hook stated explicitly, as opposed to no objection. */
type ExplicitDecision = Decision & { readonly explicit: true };

const isExplicit = (decision: Decision): decision is ExplicitDecision => 'explicit' in decision;

const explicitAllow: ExplicitDecision = { type: 'allow', explicit: true };

/** Returns true for the first evaluation of a call, false for an evaluation after a question or a rewrite. */
function isFirstEvaluation(call: ToolCall, input: string, { calls }: RunState): boolean {
  if (call.ask) return false;
  const open = calls.find(({ id }) => id === call.id);
  const aim = open && unwrapDeferredCall(open);
  return aim === undefined || typeof aim === 'string' || canonicalJson(aim.input) === input;
}

async function decideByHooks(
  ground: HookContext,
  call: ToolCall,
  state: RunState,
): Promise<Decision | ExplicitDecision> {
  const answers = await runToolHooks(ground, 'PreToolUse', call, {}, state.session);
  for (const answered of answers) {
    const denied = denialReason(answered);
    if (denied === undefined) continue;
    const { hook, output } = answered;
    const endsRun = output.error === undefined && output.stop !== undefined ? { endsRun: true } : {};
    return {
      type: 'deny',
      reason: escapeReminderTags(denied),
      by: { kind: 'hook', name: hookLabel(hook), ...endsRun },
    };
  }
  const asking = answers.find(({ output }) => output.permission === 'ask');
  if (asking)
    return {
      type: 'ask',
      question: `A hook asks about ${call.tool}: ${asking.output.reason ?? 'no reason given.'}`,
      by: { kind: 'hook', name: hookLabel(asking.hook) },
    };
  const decision = toRewriteDecision(answers.findLast(({ output }) => output.input !== undefined));
  return answers.some(({ output }) => output.permission === 'allow') ? { ...decision, explicit: true } : decision;
}

function toRewriteDecision(changed: HookResult | undefined): Decision {
  if (!changed) return { type: 'allow' };
  const { hook, toolCall, output } = changed;
  if (toolCall?.toOwnInput && output.input) return { type: 'rewrite', input: toolCall.toOwnInput(output.input) };
  return {
    type: 'deny',
    reason: `The hook ${hookLabel(hook)} changes the input of a call that cannot be changed.`,
    by: { kind: 'hook', name: hookLabel(hook) },
  };
}

function denialReason({ hook, output }: HookResult): string | undefined {
  if (output.error !== undefined)
    return `The hook ${hookLabel(hook)} guards this call and failed, so nothing was run: ${output.error}.`;
  if (output.stop !== undefined) return `${haltPrefix}, so nothing was run: ${output.stop}`;
  return output.block === undefined
    ? undefined
    : `The hook ${hookLabel(hook)} does not allow this call, so nothing was run: ${output.block}`;
}
