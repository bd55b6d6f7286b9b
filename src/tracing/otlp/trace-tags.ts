// The tags of the fields of OTLP trace requests as protobuf.

/** The tags of the fields, by message: number and wire type. */
export const tags = {
  traces: { resourceSpans: 0x0a },
  resourceSpans: { resource: 0x0a, scopeSpans: 0x12 },
  resource: { attributes: 0x0a },
  scopeSpans: { scope: 0x0a, spans: 0x12 },
  scope: { name: 0x0a, version: 0x12 },
  span: {
    traceId: 0x0a,
    spanId: 0x12,
    traceState: 0x1a,
    parentSpanId: 0x22,
    name: 0x2a,
    kind: 0x30,
    start: 0x39,
    end: 0x41,
    attributes: 0x4a,
    events: 0x5a,
    status: 0x7a,
    flags: 0x85,
  },
  event: { time: 0x09, name: 0x12, attributes: 0x1a },
  status: { message: 0x12, code: 0x18 },
  keyValue: { key: 0x0a, value: 0x12 },
  anyValue: { string: 0x0a, bool: 0x10, int: 0x18, double: 0x21, array: 0x2a },
} as const;
