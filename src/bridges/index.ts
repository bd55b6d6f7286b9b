// Public API of the bridges: the interceptor, SDK client wrappers, message guard and HTTP proxy for agents built with other frameworks.
export { wrapFetch, type WrapClientOptions, type FetchFunction } from './clients/fetch.ts';
export {
  guardMessages,
  type GuardedMessages,
  type MessageDecision,
  type GuardMessagesOptions,
} from './clients/guard-messages.ts';
export { wrapAnthropic, wrapGoogle, wrapOpenAI, type ClientWithOptions } from './clients/sdk-clients.ts';
export {
  createConversationTracker,
  type ConversationTrackerOptions,
  type ConversationTracker,
  type TrackedRequest,
} from './conversation-tracking/tracker.ts';
export { detectWireFormat, wireFormats } from '../wire/formats/index.ts';
export type { InterceptFormatName, MessageAddition, WireFormat } from '../wire/index.ts';
export {
  createInterceptor,
  type InterceptedResponse,
  type InterceptedRequest,
  type InterceptAction,
  type Interceptor,
  type InterceptorOptions,
  type DeniedCall,
} from './interceptor/interceptor.ts';
export type { BridgeFlowOptions } from './caller-flow/caller-flow.ts';
export type { UntrustedText } from './caller-flow/view.ts';
export { defaultToolFailureTest, type ToolFailureTest } from './interceptor/import-messages.ts';
export { openProxy, defaultProxyPort, type ProxyServer, type ProxyOptions } from './proxy/proxy.ts';
