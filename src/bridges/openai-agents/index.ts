// Fairlead inside OpenAI's Agents SDK: guided models, guided providers of models, and a guardrail for tools.
export type { BridgeOptions } from '../model-intercept/options.ts';
export { createToolGuardrail, type GuardrailResult, type ToolGuardrail } from './guardrail.ts';
export {
  wrapModel,
  wrapModelProvider,
  type AgentsModel,
  type AgentsModelProvider,
  type WrappedModel,
} from './model.ts';
