// Fairlead inside OpenAI's Agents SDK: guided models, guided providers of models, and a guardrail for tools.
export type { BridgeOptions } from '../frameworks/conversations.ts';
export { toolGuardrail, type GuardrailAnswer, type ToolGuardrail } from './guardrail.ts';
export { guideModel, guideProvider, type AnyModel, type AnyProvider, type Guided } from './model.ts';
