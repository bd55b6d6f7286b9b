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

/** Adds the hooks to a gate. An explicit allow of a hook of the user answers a question of the gate, but never overrides a denial. */
export function withPreToolHooks(context: HookContext, gate: Gate): Gate {
  const hasPreToolHooks = context.hooks.some(({ event }) => event === 'PreToolUse');
  if (!hasPreToolHooks) return gate;
  /** Decisions by call and input: an approval question or a rewrite evaluates the same call again. */
  const decisionsByCall = new Map<string, Map<string, Decision>>();
  return async (call, state) => {
    const input = canonicalJson(call.input);
    if (isFirstEvaluation(call, input, state)) decisionsByCall.set(call.id, new Map());
    const decisions = decisionsByCall.get(call.id) ?? new Map<string, Decision>();
    decisionsByCall.set(call.id, decisions);
    const hookDecision = decisions.get(input) ?? (await decideByHooks(context, call, state));
    decisions.set(input, hookDecision);
    // A hook has already approved what it wrote itself.
    if (hookDecision.type === 'rewrite')
      decisions.set(canonicalJson(hookDecision.input), isExplicit(hookDecision) ? explicitAllow : { type: 'allow' });
    if (hookDecision.type === 'deny' || hookDecision.type === 'rewrite') return hookDecision;
    const gateDecision = await gate(call, state);
    if (gateDecision.type === 'deny' || gateDecision.type === 'rewrite') return gateDecision;
    if (hookDecision.type === 'ask')
      return gateDecision.type === 'ask'
        ? { ...gateDecision, question: `${gateDecision.question}\n${hookDecision.question}` }
        : hookDecision;
    return gateDecision.type === 'ask' && isExplicit(hookDecision) ? { type: 'allow' } : gateDecision;
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
  const unwrapped = open && unwrapDeferredCall(open);
  return unwrapped === undefined || typeof unwrapped === 'string' || canonicalJson(unwrapped.input) === input;
}

async function decideByHooks(
  context: HookContext,
  call: ToolCall,
  state: RunState,
): Promise<Decision | ExplicitDecision> {
  const results = await runToolHooks(context, 'PreToolUse', call, {}, state.session);
  for (const result of results) {
    const reason = denialReason(result);
    if (reason === undefined) continue;
    const { hook, output } = result;
    const endsRun = output.error === undefined && output.stop !== undefined ? { endsRun: true } : {};
    return {
      type: 'deny',
      reason: escapeReminderTags(reason),
      by: { kind: 'hook', name: hookLabel(hook), ...endsRun },
    };
  }
  const askingResult = results.find(({ output }) => output.permission === 'ask');
  if (askingResult)
    return {
      type: 'ask',
      question: `A hook asks about ${call.tool}: ${askingResult.output.reason ?? 'no reason given.'}`,
      by: { kind: 'hook', name: hookLabel(askingResult.hook) },
    };
  const rewriting = results.findLast(({ output }) => output.input !== undefined);
  const decision = toRewriteDecision(rewriting);
  // A sandboxed command can change what a confined hook runs, so the hook cannot answer for the user.
  const canAllow = rewriting?.hook.isConfined !== true;
  return canAllow && results.some(({ hook, output }) => output.permission === 'allow' && hook.isConfined !== true)
    ? { ...decision, explicit: true }
    : decision;
}

function toRewriteDecision(rewriting: HookResult | undefined): Decision {
  if (!rewriting) return { type: 'allow' };
  const { hook, toolCall, output } = rewriting;
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
