// Coding agents for fleet runs: the agent factory and the run handlers.
export { announceDefaultModel } from './announce-model.ts';
export { createRunHandlers, type RunAgentOptions } from './agent-factory.ts';
