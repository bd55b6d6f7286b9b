// Traces: the spans of a session as a projection of its log, and their export with the OpenTelemetry protocol.
export { buildTrace, type RecordedSession, type TraceOptions } from './build-trace.ts';
export { parseConventions, type Conventions } from './conventions.ts';
export { exportSpans, type ExportSpansOptions } from './export-spans.ts';
export { formatTrace, type FormatTraceOptions } from './format-trace.ts';
export { isTracingConfigured } from './is-configured.ts';
export { readTracingOptions, type OtlpProtocol, type OtlpTarget, type TracingOptions } from './options.ts';
export type { ExportCounts } from './otlp/exporter.ts';
export {
  detailTextLimits,
  listTextLimits,
  selectSpans,
  shortenSpan,
  type SpanSelection,
  type TextLimits,
} from './select-spans.ts';
export {
  arrangeSpans,
  describeSpan,
  getSpanCost,
  getSpanStatus,
  sumTreeCost,
  type SpanCost,
  type SpanStatus,
  type SpanTree,
} from './span-tree.ts';
export type { GateDetails, Span, SpanContent, SpanDetails, SpanEvent, SpanKind } from './span.ts';
export { getSpanName } from './span-attributes.ts';
export { createTraceRequest, type ConversionOptions } from './to-otlp.ts';
export type { TraceRequest } from './otlp/messages.ts';
export type { TraceBuilderOptions } from './builder-options.ts';
export { TraceBuilder } from './trace-builder.ts';
export { createConversion, createTracer, type Tracer, type TracerOptions } from './tracer.ts';
