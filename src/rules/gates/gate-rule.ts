// What the makers of gates give: a gate that says its name, the views it looks at, and examples of what it stops and what it lets pass.
import {
  unwrapDeferredCall,
  type ToolCall,
  type Decision,
  type Gate,
  type Json,
  type NamedView,
  type RunState,
} from '../../core/index.ts';
import type { ExampleStep } from '../testing/fixture-log.ts';

/** A history, a call, and what must be decided about it. */
export type GateExample = {
  readonly title: string;
  readonly history?: readonly ExampleStep[];
  readonly call: { readonly tool: string; readonly input?: Json };
  readonly decides: 'allow' | 'ask' | 'deny';
};

/** A rule that is enforced before the act. It is an extension by itself, and can be one of a rule set. */
export type GateRule = {
  readonly name: string;
  /** What it is for, in a sentence. */
  readonly description: string;
  readonly gates: readonly Gate[];
  readonly views: readonly NamedView<unknown>[];
  readonly examples: readonly GateExample[];
};

/** Why a call is refused or asked about; nothing lets it pass. */
export type DenyOrAsk = { readonly deny: string } | { readonly ask: string };

/** What an enforcement is made from. */
export type GateRuleOptions = Omit<GateRule, 'gates' | 'views' | 'examples'> & {
  readonly decide: (call: ToolCall, state: RunState) => DenyOrAsk | undefined | Promise<DenyOrAsk | undefined>;
  readonly views?: readonly NamedView<unknown>[];
  readonly examples?: readonly GateExample[];
};

/** Makes an enforcement. The refusal names the rule, so that the model, a person and a report all know which it was. */
export function defineGate({ name, description, decide, views = [], examples = [] }: GateRuleOptions): GateRule {
  const by = { kind: 'rule', name } as const;
  const decisionOf = (found: DenyOrAsk | undefined): Decision => {
    if (!found) return { type: 'allow' };
    if ('ask' in found) return { type: 'ask', question: found.ask, by };
    return { type: 'deny', reason: `The rule ${name} does not allow this call, so nothing was run: ${found.deny}`, by };
  };
  return {
    name,
    description,
    gates: [async (call, state) => decisionOf(await decide(call, state))],
    views,
    examples,
  };
}

/** The open calls of the same answer that stand before this one and have not begun to act: they go first. */
export function earlierOpenCalls(call: ToolCall, state: RunState): readonly ToolCall[] {
  const at = state.calls.findIndex(({ id }) => id === call.id);
  return state.calls.slice(0, Math.max(0, at)).flatMap((each) => {
    const aim = unwrapDeferredCall(each);
    return each.result || each.key !== undefined || typeof aim === 'string' ? [] : [aim];
  });
}

/** How far back a rule looks: this turn of the user, this run, or the whole session. */
export type RuleScope = 'turn' | 'run' | 'session';
