// Coding agents for fleet runs: the agent factory and the run handlers.
export { announceDefaultModel } from './announce-model.ts';
export { createRunAgentFactory, createRunHandlers, type RunAgentOptions } from './agent-factory.ts';
export { loadRunHandlers } from './load-run-handlers.ts';
