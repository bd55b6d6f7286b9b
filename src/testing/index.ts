// What users test their own agents with, without a model.
export {
  calls,
  fails,
  joinResponses,
  says,
  sends,
  sendsPage,
  thinks,
  type ScriptedResponse,
  type ScriptedResponseBuilder,
  type FailureName,
  type RawScriptedResponse,
  type ScriptedCall,
  type ScriptedError,
  type TransportFailures,
} from './answer.ts';
export type { RequestDiff } from './departure.ts';
export { readRecordedExchanges, resendsExchange, type RecordedExchange } from './exchanges.ts';
export { assertValidRequestBody } from './legality/legal.ts';
export { assertValidRequest } from './legality/request.ts';
export type { ListedModel, ListingStyle } from './listings/model.ts';
export { prefixBreaks, prefixWarnings, type PrefixBreak, type PrefixOptions } from './prefix.ts';
export { scriptedProvider, type ScriptedProvider, type ScriptedProviderOptions } from './provider.ts';
export type { RequestOutcome, RecordedRequest } from './recording.ts';
export { replayProvider, type ReplayOptions, type ReplayProvider } from './replay.ts';
export type { WireFormatName } from './replies/reply.ts';
export { callsThenAnswer, type ScriptRequest, type Script, type ScriptStep } from './script.ts';
export { closedUrl, scriptedServer, type ScriptedServer, type ScriptedServerOptions } from './server.ts';
