// Fairlead inside somebody else's loop: the guide that every bridge stands on, plain clients, plain messages and the proxy.
export { guidedFetch, type ClientOptions, type Fetch } from './clients/guided-fetch.ts';
export { guide, type Guided, type PlainDecision, type PlainOptions } from './clients/plain.ts';
export { guideAnthropic, guideGoogle, guideOpenAI, type Remakeable } from './clients/wrapped.ts';
export {
  openConversations,
  type ConversationOptions,
  type Conversations,
  type Talk,
} from './conversations/conversations.ts';
export type { Dialect, DialectName } from './dialects/dialect.ts';
export { dialectOf, dialects } from './dialects/table.ts';
export { type Addition } from './guide/given.ts';
export {
  openGuide,
  type Answered,
  type Asked,
  type Guidance,
  type Guide,
  type GuideOptions,
  type Refused,
} from './guide/guide.ts';
export { looksFailed, type FailureTest } from './guide/taking-in.ts';
export { openProxy, usualPort, type Proxy, type ProxyOptions } from './proxy/proxy.ts';
