// Fairlead inside LangChain and LangGraph: guided chat models, a middleware for agents, and a second door for tools.
export type { BridgeOptions } from '../model-intercept/options.ts';
export type { MessageClass, MessageClasses } from './messages.ts';
export { fairleadMiddleware, type FairleadAgentMiddleware } from './middleware.ts';
export { wrapChatModel, type LangChainOptions } from './model.ts';
export { guardTools } from './tools.ts';
