// Confirmation: asks the user before certain calls.
import { truncateMiddle, type ToolCall, type RunState } from '../../core/index.ts';
import { defineGate, type GateRule } from './gate-rule.ts';

/** Which calls need confirmation, and with which question. */
export type ConfirmOptions = {
  /** The name of the rule. */
  readonly name?: string;
  /** Tool names, or a test of the call. */
  readonly which: readonly string[] | ((call: ToolCall, state: RunState) => boolean);
  /** The question about a call. */
  readonly question?: (call: ToolCall) => string;
};

const defaultQuestion = ({ tool, input }: ToolCall): string =>
  `Run ${tool} with ${truncateMiddle(JSON.stringify(input), 400)}?`;

/** Asks the user before these calls. An approval applies only to the question that was asked. */
export function confirm({ name = 'confirm', which, question = defaultQuestion }: ConfirmOptions): GateRule {
  const needsConfirmation = typeof which === 'function' ? which : ({ tool }: ToolCall): boolean => which.includes(tool);
  const [tool] = typeof which === 'function' ? [] : which;
  return defineGate({
    name,
    description: 'The user must approve this first.',
    decide: (call, state) => (needsConfirmation(call, state) ? { ask: question(call) } : undefined),
    examples:
      tool === undefined
        ? []
        : [
            { title: `a call of ${tool}`, call: { tool }, decides: 'ask' },
            { title: 'any other call', call: { tool: `not_${tool}` }, decides: 'allow' },
          ],
  });
}
