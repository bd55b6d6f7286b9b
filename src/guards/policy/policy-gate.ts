// The policy gate: applies the rules of a policy, and leaves calls that no rule matches to the next gate.
import type { Gate } from '../../core/index.ts';
import { grantKey, type Grants } from '../grants.ts';
import { formatApprovalPrompt } from '../permission.ts';
import { invalidCommandReason } from '../invalid-command.ts';
import type { PolicyContext } from './evaluate.ts';
import type { Policy } from './policy.ts';

/** Options of policyGate. */
export type PolicyGateOptions = PolicyContext & {
  readonly grants: Grants;
  /** The gate that decides if no rule matches: the permission gate. */
  readonly fallback: Gate;
};

const by = { kind: 'policy' } as const;

/** Creates a gate from a policy. A rule with `ask` asks in every mode; a session grant then answers the question. */
export function policyGate(policy: Policy, options: PolicyGateOptions): Gate {
  const { grants, fallback, locate } = options;
  return async (call, state) => {
    // The next gate denies a command that no shell accepts, without asking.
    if (invalidCommandReason(call) !== undefined) return fallback(call, state);
    // Loaded for the first call, because an answer without a call does not need it.
    const { evaluatePolicy } = await import('./evaluate.ts');
    const { effect, why } = await evaluatePolicy(policy, call, options);
    if (effect === 'deny') return { type: 'deny', reason: `The policy denies this call: ${why.join(' ')}`, by };
    if (effect === 'allow') return { type: 'allow' };
    if (effect === 'unmatched') return fallback(call, state);
    if (grants.has(grantKey(call, locate))) return { type: 'allow' };
    return {
      type: 'ask',
      question: [formatApprovalPrompt(call, locate), ...why.map((each) => `(${each})`)].join('\n'),
      by,
    };
  };
}
