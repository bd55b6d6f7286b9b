// The gate of a policy: what its rules deny is denied, what they allow is allowed, and what they say nothing of is left to the gate behind it.
import type { Gate } from '../../core/index.ts';
import { grantKey, type Grants } from '../grants.ts';
import { formatApprovalPrompt } from '../permission.ts';
import { invalidCommandReason } from '../invalid-command.ts';
import { evaluatePolicy, type PolicyContext } from './evaluate.ts';
import type { Policy } from './policy.ts';

/** What the gate of a policy is made from. */
export type PolicyGateOptions = PolicyContext & {
  readonly grants: Grants;
  /** Who decides where no rule does: the gate that asks the person. */
  readonly fallback: Gate;
};

/** A gate by these rules. A rule that asks does so in every mode; what the person then always allows is not asked again. */
export function policyGate(policy: Policy, options: PolicyGateOptions): Gate {
  const { grants, fallback, locate } = options;
  return async (call, state) => {
    // What no shell could take is refused by the gate behind, without a question.
    if (invalidCommandReason(call) !== undefined) return fallback(call, state);
    const { effect, why } = await evaluatePolicy(policy, call, options);
    if (effect === 'deny') return { type: 'deny', reason: `The policy denies this call: ${why.join(' ')}` };
    if (effect === 'allow') return { type: 'allow' };
    if (effect === 'unmatched') return fallback(call, state);
    if (grants.has(grantKey(call, locate))) return { type: 'allow' };
    return {
      type: 'ask',
      question: [formatApprovalPrompt(call, locate), ...why.map((each) => `(${each})`)].join('\n'),
    };
  };
}
