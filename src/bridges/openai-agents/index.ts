// Bridge to the OpenAI Agents SDK: model and model provider wrappers, and a tool guardrail.
export type { BridgeOptions } from '../model-intercept/options.ts';
export { createToolGuardrail, type GuardrailResult, type ToolGuardrail } from './guardrail.ts';
export {
  wrapModel,
  wrapModelProvider,
  type AgentsModel,
  type AgentsModelProvider,
  type WrappedModel,
} from './model.ts';
