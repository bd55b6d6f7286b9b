// Bridge to the Vercel AI SDK: a language model middleware and gates for its tools.
export type { BridgeOptions } from '../model-intercept/options.ts';
export { fairleadMiddleware, type FairleadMiddleware } from './middleware.ts';
export { guardToolSet } from './tools.ts';
