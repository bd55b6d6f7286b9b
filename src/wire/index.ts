// Provider wire formats as pure codecs: parse and write requests, responses, streams, usage, finish reasons and errors.
export { detectWireFormat, wireFormatOfPath, wireFormats } from './detect.ts';
export {
  asJsonArray,
  asObject,
  asObjectArray,
  asString,
  numberField,
  parseCallArguments,
  toOpaquePart,
  tryParseJson,
} from './fields.ts';
export {
  formatSseFrame,
  formatStreamEvent,
  formatStreamEvents,
  parseStreamEvent,
  type WireStreamEvent,
} from './sse.ts';
export {
  getSystemAddition,
  groupByPosition,
  joinParagraphs,
  type InterceptFormatName,
  type MessageAddition,
  type ParsedModelRequest,
  type ParsedModelResponse,
  type StreamAssembler,
  type WireFormat,
  type WireFormatName,
} from './wire-format.ts';
export { stringOrUndefined, type WireObject, numberOrUndefined } from './fields.ts';
export { mergeCounts, type ReportedUsage, fillCounts } from './usage.ts';
export { classifyProviderError, parseErrorBody, inferErrorStatus } from './error-kinds.ts';
export { parseRetryDelay, type HttpHeaderMap } from './retry-after.ts';
export { createLineParser, createSseParser, type SseEvent, type TextLimit, type TextParser } from './sse.ts';
