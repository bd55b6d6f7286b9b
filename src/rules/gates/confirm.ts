// Confirmation: a person is asked before some calls are made.
import { truncateMiddle, type ToolCall, type RunState } from '../../core/index.ts';
import { defineGate, type GateRule } from './gate-rule.ts';

/** Which calls a person is asked about, and how. */
export type ConfirmOptions = {
  readonly name?: string;
  /** Tools by name, or a test of the call. */
  readonly which: readonly string[] | ((call: ToolCall, state: RunState) => boolean);
  readonly question?: (call: ToolCall) => string;
};

const defaultQuestion = ({ tool, input }: ToolCall): string =>
  `Run ${tool} with ${truncateMiddle(JSON.stringify(input), 400)}?`;

/** Asks a person before these calls. A yes is for the question that was asked and for no other. */
export function confirm({ name = 'confirm', which, question = defaultQuestion }: ConfirmOptions): GateRule {
  const asks = typeof which === 'function' ? which : ({ tool }: ToolCall): boolean => which.includes(tool);
  const [tool] = typeof which === 'function' ? [] : which;
  return defineGate({
    name,
    description: 'A person says yes before this is done.',
    decide: (call, state) => (asks(call, state) ? { ask: question(call) } : undefined),
    examples:
      tool === undefined
        ? []
        : [
            { title: `a call of ${tool}`, call: { tool }, decides: 'ask' },
            { title: 'any other call', call: { tool: `not_${tool}` }, decides: 'allow' },
          ],
  });
}
