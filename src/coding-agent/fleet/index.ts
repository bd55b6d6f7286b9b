// Coding agents for fleet runs: the agent factory and the run handlers.
export { createRunHandlers, type RunAgentOptions } from './agent-factory.ts';
