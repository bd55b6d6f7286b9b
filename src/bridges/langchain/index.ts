// Bridge to LangChain and LangGraph: chat model wrapper, agent middleware, and gates for tools.
export type { BridgeOptions } from '../model-intercept/options.ts';
export type { MessageClass, MessageClasses } from './messages.ts';
export { fairleadMiddleware, type FairleadAgentMiddleware } from './middleware.ts';
export { wrapChatModel, type LangChainOptions } from './model.ts';
export { guardTools } from './tools.ts';
