// The fleet's public names: workers, what they work with, and how to speak to the runs they have.
export { getClientOptions, createClientTools, type ClientToolResult, type ClientRunOptions } from './client-tools.ts';
export { createAgentRunHandler, type RunHandler, type RunHandlerContext } from './run-handler.ts';
export { sendMessage } from './inbox.ts';
export type { WrapProvider, AgentInstance, AgentFactory } from './agent-factory.ts';
export { startWorker, type Worker, type WorkerOptions } from './worker.ts';
