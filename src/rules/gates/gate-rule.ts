// Gate rules: a gate with a name, the views it reads, and examples of what it stops and allows.
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

/** A history, a call, and the expected decision. */
export type GateExample = {
  readonly title: string;
  readonly history?: readonly ExampleStep[];
  readonly call: { readonly tool: string; readonly input?: Json };
  readonly decides: 'allow' | 'ask' | 'deny';
};

/** A rule that is enforced before a tool call runs. It is an extension by itself, and can be part of a rule set. */
export type GateRule = {
  /** The name of the rule, which a denied call gets. */
  readonly name: string;
  /** Its purpose, in one sentence. */
  readonly description: string;
  readonly gates: readonly Gate[];
  readonly views: readonly NamedView<unknown>[];
  readonly examples: readonly GateExample[];
};

/** The reason of a denial, or a question. Undefined allows the call. */
export type DenyOrAsk = { readonly deny: string } | { readonly ask: string };

/** Options of defineGate. */
export type GateRuleOptions = Omit<GateRule, 'gates' | 'views' | 'examples'> & {
  /** Returns a denial or a question; undefined allows the call. */
  readonly decide: (call: ToolCall, state: RunState) => DenyOrAsk | undefined | Promise<DenyOrAsk | undefined>;
  /** The views that `decide` reads. */
  readonly views?: readonly NamedView<unknown>[];
  /** Situations with the expected decision. */
  readonly examples?: readonly GateExample[];
};

/** Defines a gate rule. The denial names the rule, so that the model, the user and reports can identify it. */
export function defineGate({ name, description, decide, views = [], examples = [] }: GateRuleOptions): GateRule {
  const by = { kind: 'rule', name } as const;
  const decisionOf = (result: DenyOrAsk | undefined): Decision => {
    if (!result) return { type: 'allow' };
    if ('ask' in result) return { type: 'ask', question: result.ask, by };
    return {
      type: 'deny',
      reason: `The rule ${name} does not allow this call, so nothing was run: ${result.deny}`,
      by,
    };
  };
  return {
    name,
    description,
    gates: [async (call, state) => decisionOf(await decide(call, state))],
    views,
    examples,
  };
}

/** Returns the open calls of the same answer that come before this one and have not started. They run first. */
export function earlierOpenCalls(call: ToolCall, state: RunState): readonly ToolCall[] {
  const index = state.calls.findIndex(({ id }) => id === call.id);
  return state.calls.slice(0, Math.max(0, index)).flatMap((each) => {
    const target = unwrapDeferredCall(each);
    return each.result || each.key !== undefined || typeof target === 'string' ? [] : [target];
  });
}

/** The scope of a rule: the current user turn, the run, or the session. */
export type RuleScope = 'turn' | 'run' | 'session';
