// W3C trace context: parses and formats the traceparent and tracestate of a request.

/** The trace that a request belongs to, as its headers state it. */
export type TraceContext = {
  /** Version, trace id, span id and flags: `00-<32 hex digits>-<16 hex digits>-01`. */
  readonly traceparent: string;
  /** Values of tracing systems on the way, which are passed on unchanged. */
  readonly tracestate?: string;
};

/** The parts of a traceparent. */
export type TraceParent = { readonly traceId: string; readonly spanId: string; readonly isSampled: boolean };

const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[ -~]{0,200})?$/;
const tracestatePattern = /^[ -~\t]{1,512}$/;

/** Returns the parts of a traceparent; undefined if it is not valid, in which case the specification says to ignore it. */
export function parseTraceparent(value: unknown): TraceParent | undefined {
  if (typeof value !== 'string' || value.length > 256) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = traceparentPattern.exec(value.trim()) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Returns a context of version 00 from the values of two headers or fields; undefined if the traceparent is not valid. A tracestate that is not valid is dropped. */
export function parseTraceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  const parent = parseTraceparent(traceparent);
  if (!parent) return undefined;
  const state = typeof tracestate === 'string' ? tracestate.trim() : '';
  return { traceparent: formatTraceparent(parent), ...(tracestatePattern.test(state) ? { tracestate: state } : {}) };
}

/** Formats a traceparent of version 00. */
export const formatTraceparent = ({ traceId, spanId, isSampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
