// The messages of the OpenTelemetry protocol that are sent, in the shape of its JSON encoding: ids as hex digits, 64-bit numbers as text.
import type { Json } from '../../core/index.ts';

/** A value of an attribute. */
export type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } };

/** An attribute: a key and its value. */
export type KeyValue = { readonly key: string; readonly value: AnyValue };

/** A span as it is sent. */
export type OtlpSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState?: string;
  readonly parentSpanId?: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly droppedAttributesCount?: number;
  readonly events?: readonly {
    readonly timeUnixNano: string;
    readonly name: string;
    readonly attributes: readonly KeyValue[];
  }[];
  readonly status: { readonly message?: string; readonly code?: number };
};

type Scope = { readonly name: string; readonly version: string };
type Resource = { readonly attributes: readonly KeyValue[] };

/** A request to export spans. */
export type TraceRequest = {
  readonly resourceSpans: readonly {
    readonly resource: Resource;
    readonly scopeSpans: readonly { readonly scope: Scope; readonly spans: readonly OtlpSpan[] }[];
  }[];
};

/** A point of a counter. */
export type NumberPoint = {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly asDouble: number;
};

/** A point of a histogram. */
export type HistogramPoint = {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly count: string;
  readonly sum: number;
  readonly bucketCounts: readonly string[];
  readonly explicitBounds: readonly number[];
  readonly min: number;
  readonly max: number;
};

/** A metric: a counter or a histogram. */
export type OtlpMetric = { readonly name: string; readonly description: string; readonly unit: string } & (
  | {
      readonly sum: {
        readonly dataPoints: readonly NumberPoint[];
        readonly aggregationTemporality: number;
        readonly isMonotonic: true;
      };
    }
  | { readonly histogram: { readonly dataPoints: readonly HistogramPoint[]; readonly aggregationTemporality: number } }
);

/** A request to export metrics. */
export type MetricsRequest = {
  readonly resourceMetrics: readonly {
    readonly resource: Resource;
    readonly scopeMetrics: readonly { readonly scope: Scope; readonly metrics: readonly OtlpMetric[] }[];
  }[];
};

/** Returns a value of an attribute; an object becomes JSON text. */
export function toAnyValue(value: Json, maxChars: number): AnyValue {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value) && value.every((each) => typeof each === 'string'))
    return { arrayValue: { values: value.map((each) => ({ stringValue: cutText(each, maxChars) })) } };
  return { stringValue: cutText(typeof value === 'string' ? value : JSON.stringify(value), maxChars) };
}

/** Returns attributes without undefined values. */
export const toKeyValues = (
  values: Readonly<Record<string, Json | undefined>>,
  maxChars: number,
): readonly KeyValue[] =>
  Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: toAnyValue(value, maxChars) }],
  );

/** Milliseconds since 1970 as nanoseconds. */
export const toNanos = (ms: number): string => {
  const whole = Math.floor(ms);
  return `${BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1e6))}`;
};

/** Cuts a text to so many characters, not between the halves of a surrogate pair. */
const cutText = (text: string, maxChars: number): string =>
  (text.length > maxChars ? text.slice(0, maxChars) : text).toWellFormed();
