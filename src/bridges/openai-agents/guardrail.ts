// A second door for the tools of OpenAI's Agents SDK: an input guardrail that asks the gates.
import { argumentsIn } from '../dialects/reading.ts';
import { objection, type DoorKeeper } from '../frameworks/second-door.ts';

/** What a guardrail of the SDK answers. */
export type GuardrailAnswer = {
  behavior: { type: 'allow' } | { type: 'rejectContent'; message: string };
};

/** An input guardrail of the SDK, for `tool({ inputGuardrails: [...] })`. */
export type ToolGuardrail = {
  type: 'tool_input';
  name: string;
  run(data: { toolCall: { callId: string; name: string; arguments: string } }): Promise<GuardrailAnswer>;
};

/** A guardrail under which a tool runs only where the guide's gates allow the call; otherwise the model reads the reason as its result. */
export const toolGuardrail = (guide: DoorKeeper): ToolGuardrail => ({
  type: 'tool_input',
  name: 'fairlead',
  async run({ toolCall: { callId, name, arguments: raw } }) {
    const refused = await objection(guide, { id: callId, tool: name, input: argumentsIn(raw).input });
    return { behavior: refused === undefined ? { type: 'allow' } : { type: 'rejectContent', message: refused } };
  },
});
