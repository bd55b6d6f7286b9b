// Public API for tests of agents without a real model: scripted provider, scripted server, replay and request validation.
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
} from './scripted-response.ts';
export type { RequestDiff } from './request-diff.ts';
export { readRecordedExchanges, resendsExchange, type RecordedExchange } from './recorded-http.ts';
export { assertValidRequestBody } from './request-validation/validate.ts';
export { assertValidRequest } from './request-validation/core-request.ts';
export type { ListedModel, ListingStyle } from './model-listings/model.ts';
export { prefixBreaks, prefixWarnings, type PrefixBreak, type PrefixOptions } from './prefix-check.ts';
export { scriptedProvider, type ScriptedProvider, type ScriptedProviderOptions } from './provider.ts';
export type { RequestOutcome, RecordedRequest } from './recording.ts';
export { replayProvider, type ReplayOptions, type ReplayProvider } from './replay.ts';
export type { WireFormatName } from '../wire/index.ts';
export { callsThenAnswer, type ScriptRequest, type Script, type ScriptStep } from './script.ts';
export { closedUrl, scriptedServer, type ScriptedServer, type ScriptedServerOptions } from './server.ts';
