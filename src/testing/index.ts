// What users test their own agents with, without a model.
export {
  calls,
  fails,
  join,
  says,
  sends,
  sendsPage,
  thinks,
  type Answer,
  type BuiltAnswer,
  type FailureName,
  type RawReply,
  type ScriptedCall,
  type ScriptedError,
  type WireFaults,
} from './answer.ts';
export type { Departure } from './departure.ts';
export { recordedExchanges, resends, type Exchange } from './exchanges.ts';
export { assertLegal } from './legality/legal.ts';
export { assertLegalRequest } from './legality/request.ts';
export type { ListedModel, ListingStyle } from './listings/model.ts';
export { prefixBreaks, prefixWarnings, type PrefixBreak, type PrefixOptions } from './prefix.ts';
export { scriptedProvider, type ScriptedProvider, type ScriptedProviderOptions } from './provider.ts';
export type { RequestOutcome, RecordedRequest } from './recording.ts';
export { replayProvider, type ReplayOptions, type ReplayProvider } from './replay.ts';
export type { Dialect } from './replies/reply.ts';
export { callsThenAnswer, type Asked, type Script, type ScriptStep } from './script.ts';
export { closedUrl, scriptedServer, type ScriptedServer, type ScriptedServerOptions } from './server.ts';
