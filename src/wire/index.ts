// Provider wire formats as pure codecs: shared types, JSON fields, server-sent events, usage and errors; each format has an index of its own.
export { parseGoogleModel, wireFormatOfPath } from './detect.ts';
export { classifyProviderError, inferErrorStatus, parseErrorBody } from './error-kinds.ts';
export {
  asJsonArray,
  asObject,
  asObjectArray,
  asString,
  numberField,
  numberOrUndefined,
  parseCallArguments,
  stringOrUndefined,
  toOpaquePart,
  toUnknownMessage,
  tryParseJson,
  type WireObject,
} from './fields.ts';
export { parseRetryDelay, type HttpHeaderMap } from './retry-after.ts';
export {
  createLineParser,
  createSseParser,
  formatSseFrame,
  formatStreamEvent,
  formatStreamEvents,
  parseStreamEvent,
  type SseEvent,
  type TextLimit,
  type TextParser,
  type WireStreamEvent,
} from './sse.ts';
export { fillCounts, mergeCounts, type ReportedUsage } from './usage.ts';
export {
  getSystemAddition,
  groupByPosition,
  joinParagraphs,
  maxResponseCalls,
  type InterceptFormatName,
  type MessageAddition,
  type ParsedModelRequest,
  type ParsedModelResponse,
  type StreamAssembler,
  type WireFormat,
  type WireFormatName,
} from './wire-format.ts';
