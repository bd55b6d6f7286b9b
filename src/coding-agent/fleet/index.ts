// Coding agents for fleet runs: the agent factory and the run handlers.
export { createRunHandlers } from './agent-factory.ts';
