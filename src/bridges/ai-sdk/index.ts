// Fairlead inside the Vercel AI SDK: a middleware for its models and a second door for its tools.
export type { BridgeOptions } from '../model-intercept/options.ts';
export { fairleadMiddleware, type FairleadMiddleware } from './middleware.ts';
export { guardToolSet } from './tools.ts';
