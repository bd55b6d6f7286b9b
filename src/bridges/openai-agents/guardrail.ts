// Input guardrail for tools of the OpenAI Agents SDK that asks the gates.
import { parseCallArguments } from '../../wire/index.ts';
import { getToolDenial, type ToolGate } from '../model-intercept/tool-gate.ts';

/** The result of an SDK guardrail. */
export type GuardrailResult = {
  behavior: { type: 'allow' } | { type: 'rejectContent'; message: string };
};

/** An input guardrail of the SDK, for `tool({ inputGuardrails: [...] })`. */
export type ToolGuardrail = {
  type: 'tool_input';
  name: string;
  run(data: { toolCall: { callId: string; name: string; arguments: string } }): Promise<GuardrailResult>;
};

/** Creates a guardrail: the tool runs only if the gates allow the call; otherwise the model reads the reason as the result. */
export const createToolGuardrail = (guide: ToolGate): ToolGuardrail => ({
  type: 'tool_input',
  name: 'fairlead',
  async run({ toolCall: { callId, name, arguments: raw } }) {
    const refused = await getToolDenial(guide, { id: callId, tool: name, input: parseCallArguments(raw).input });
    return { behavior: refused === undefined ? { type: 'allow' } : { type: 'rejectContent', message: refused } };
  },
});
