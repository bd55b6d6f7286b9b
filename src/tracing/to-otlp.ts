// Converts spans to the OpenTelemetry protocol with the names of the GenAI conventions. Texts are included only if they were captured, and redacted.
import type { Json } from '../core/index.ts';
import { getAttributeName, type AttributeKey, type Conventions } from './conventions.ts';
import { toAnyValue, toKeyValues, toNanos, type KeyValue, type OtlpSpan, type TraceRequest } from './otlp/messages.ts';
import {
  addEvaluationAttributes,
  addOwnAttributes,
  addSharedAttributes,
  getSpanName,
  type AttributeSink,
} from './span-attributes.ts';
import type { Span, SpanEvent } from './span.ts';

/** How spans are converted. */
export type ConversionOptions = {
  readonly conventions: Conventions;
  /** Whether texts are exported. */
  readonly content: boolean;
  /** Removes secrets from texts before they are cut to `maxAttributeChars`. */
  readonly redact: (text: string) => string;
  readonly maxAttributeChars: number;
  /** Attributes of the resource, such as `service.name`. */
  readonly resource: Readonly<Record<string, Json>>;
  /** The version of this package. */
  readonly version: string;
};

/** The name of the scope of all spans. */
export const scopeName = 'fairlead';

const [internalKind, clientKind] = [1, 3];
/** The code of the status of a span that failed. */
export const errorStatus = 2;
/** Flags of a span: sampled, and whether it is known that the parent is in another process. */
const [sampledFlag, hasIsRemoteFlag, isRemoteFlag] = [1, 0x100, 0x200];

/** The kind of a span in the protocol. */
export const getSpanKind = ({ kind }: Span): number =>
  kind === 'model' || kind === 'request' ? clientKind : internalKind;

/** The flags of a span in the protocol. */
export const getSpanFlags = ({ hasRemoteParent }: Span): number =>
  sampledFlag | hasIsRemoteFlag | (hasRemoteParent ? isRemoteFlag : 0);

/** Returns the request that exports these spans. */
export const createTraceRequest = (spans: readonly Span[], options: ConversionOptions): TraceRequest => ({
  resourceSpans: [
    {
      resource: { attributes: toKeyValues(options.resource, options.maxAttributeChars) },
      scopeSpans: [
        {
          scope: { name: scopeName, version: options.version },
          spans: spans.map((span) => toOtlpSpan(span, options)),
        },
      ],
    },
  ],
});

/** Converts one span. One that has not ended gets its start as its end. */
function toOtlpSpan(span: Span, options: ConversionOptions): OtlpSpan {
  const { traceId, spanId, parentId, tracestate, start, end = start, error, events } = span;
  const attributes = new AttributeList(options);
  addSharedAttributes(span, attributes);
  addOwnAttributes(span, options, attributes);
  return {
    traceId,
    spanId,
    ...(tracestate === undefined ? {} : { traceState: tracestate }),
    ...(parentId === undefined ? {} : { parentSpanId: parentId }),
    flags: getSpanFlags(span),
    name: getSpanName(span),
    kind: getSpanKind(span),
    startTimeUnixNano: toNanos(start),
    endTimeUnixNano: toNanos(end),
    attributes: attributes.list,
    ...(events ? { events: events.map((event) => toOtlpEvent(event, span, options)) } : {}),
    status: error === undefined ? {} : { message: getStatusMessage(span, options), code: errorStatus },
  };
}

/** The type of an error; its text may quote what a tool returned, so it counts as content. */
export const getStatusMessage = (
  { error = '', errorMessage }: Span,
  { content, redact, maxAttributeChars }: ConversionOptions,
): string =>
  content && errorMessage !== undefined
    ? `${error}: ${redact(errorMessage)}`.slice(0, maxAttributeChars).toWellFormed()
    : error;

/** The name of the event of the conventions for the result of a check. */
export const evaluationEventName = 'gen_ai.evaluation.result';

/** Returns the name and the attributes of an event that the conventions do not define. */
export function nameEvent({ name, attributes }: SpanEvent): {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
} {
  const named = Object.entries(attributes).map(([key, value]) => [`fairlead.${name}.${key}`, value] as const);
  return { name: `fairlead.${name}`, attributes: Object.fromEntries(named) };
}

function toOtlpEvent(
  event: SpanEvent,
  span: Span,
  options: ConversionOptions,
): NonNullable<OtlpSpan['events']>[number] {
  const timeUnixNano = toNanos(event.time);
  if (event.name !== 'evaluation') {
    const { name, attributes } = nameEvent(event);
    return { timeUnixNano, name, attributes: toKeyValues(attributes, options.maxAttributeChars) };
  }
  const attributes = new AttributeList(options);
  addEvaluationAttributes(event.attributes, span, options, attributes);
  return { timeUnixNano, name: evaluationEventName, attributes: attributes.list };
}

/** Collects attributes in the shape of the JSON encoding. */
class AttributeList implements AttributeSink {
  readonly list: KeyValue[] = [];
  readonly #options: ConversionOptions;

  constructor(options: ConversionOptions) {
    this.#options = options;
  }

  add(key: AttributeKey, value: Json | undefined): void {
    const { conventions, maxAttributeChars } = this.#options;
    const name = getAttributeName(key, conventions);
    if (name !== undefined && value !== undefined)
      this.list.push({ key: name, value: toAnyValue(value, maxAttributeChars) });
  }
}
