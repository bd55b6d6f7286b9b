// The fleet's public names: workers, what they work with, and how to speak to the runs they have.
export { getClientOptions, createClientTools, type ClientToolResult, type ClientRunOptions } from './client.ts';
export { createAgentRunHandler, type RunHandler, type RunHandlerContext } from './driver.ts';
export { sendMessage } from './inbox.ts';
export type { WrapProvider, AgentInstance, AgentFactory } from './outfitter.ts';
export { startWorker, type Worker, type WorkerOptions } from './worker.ts';
