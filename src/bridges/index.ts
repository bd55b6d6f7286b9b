// Fairlead inside somebody else's loop: the guide that every bridge stands on, plain clients, plain messages and the proxy.
export { wrapFetch, type WrapClientOptions, type FetchFunction } from './clients/guided-fetch.ts';
export {
  guardMessages,
  type GuardedMessages,
  type MessageDecision,
  type GuardMessagesOptions,
} from './clients/plain.ts';
export { wrapAnthropic, wrapGoogle, wrapOpenAI, type ClientWithOptions } from './clients/wrapped.ts';
export {
  createConversationTracker,
  type ConversationTrackerOptions,
  type ConversationTracker,
  type TrackedRequest,
} from './conversations/conversations.ts';
export type { WireFormat, WireFormatName } from './dialects/dialect.ts';
export { detectWireFormat, wireFormats } from './dialects/table.ts';
export { type MessageAddition } from './guide/given.ts';
export {
  createInterceptor,
  type InterceptedResponse,
  type InterceptedRequest,
  type InterceptAction,
  type Interceptor,
  type InterceptorOptions,
  type DeniedCall,
} from './guide/guide.ts';
export { defaultToolFailureTest, type ToolFailureTest } from './guide/taking-in.ts';
export { openProxy, defaultProxyPort, type ProxyServer, type ProxyOptions } from './proxy/proxy.ts';
