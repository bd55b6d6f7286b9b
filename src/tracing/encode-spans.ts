// Encodes spans as protobuf directly, without the objects of the JSON encoding: the export of a span must cost little compared to the step of a run that it describes. The bytes of attributes that many spans share are kept.
import type { Json } from '../core/index.ts';
import { getAttributeName, type AttributeKey } from './conventions.ts';
import { ByteWriter } from './otlp/byte-writer.ts';
import { tags } from './otlp/trace-tags.ts';
import {
  addEvaluationAttributes,
  addOwnAttributes,
  addSharedAttributes,
  getSpanName,
  type AttributeSink,
} from './span-attributes.ts';
import type { Span, SpanEvent } from './span.ts';
import {
  errorStatus,
  evaluationEventName,
  getSpanFlags,
  getSpanKind,
  getStatusMessage,
  nameEvent,
  scopeName,
  type ConversionOptions,
} from './to-otlp.ts';

/** Attributes whose values differ from span to span: their bytes are not kept. */
const variedKeys: ReadonlySet<AttributeKey> = new Set<AttributeKey>([
  'run',
  'toolCall',
  'system',
  'inputMessages',
  'outputMessages',
  'toolArguments',
  'toolResult',
  'explanation',
  'evaluationExplanation',
]);
/** The bounds of the texts whose bytes are kept. */
const [maxKeptChars, maxKeptTexts] = [200, 500];

/** An attribute key: its bytes as a field, those of the whole attribute by its text, undefined if they are not kept, and the text that was written last, which is often the next one too. */
type PreparedKey = {
  readonly key: Buffer;
  readonly kept: Map<string, Buffer> | undefined;
  last: string | undefined;
  lastBytes: Buffer;
};

/** Creates the function that encodes spans as a request to export them. */
export function createSpanEncoder(options: ConversionOptions): (spans: readonly Span[]) => Buffer {
  const encoder = new SpanEncoder(options);
  return (spans) => encoder.encode(spans);
}

class SpanEncoder implements AttributeSink {
  readonly #options: ConversionOptions;
  readonly #keys = new Map<AttributeKey, PreparedKey | undefined>();
  /** The bytes of the names of spans, by the kind and the name before the conventions. */
  readonly #names = new Map<string, Map<string, Buffer>>();
  /** The bytes of the attributes that spans share, by kind and session. */
  readonly #shared = new Map<string, Map<string, { readonly agent: string | undefined; readonly bytes: Buffer }>>();
  /** The bytes of the trace of the last span: the next one usually has the same. */
  #trace: { readonly id: string; readonly bytes: Buffer } = { id: '', bytes: Buffer.alloc(0) };
  /** The tag of an attribute in the message that is written. */
  #attributeTag: number = tags.span.attributes;
  #writer = new ByteWriter(0);
  /** The bytes of a span, as the last request had them. */
  #spanSize = 512;

  constructor(options: ConversionOptions) {
    this.#options = options;
  }

  encode(spans: readonly Span[]): Buffer {
    const writer = (this.#writer = new ByteWriter(Math.ceil(spans.length * this.#spanSize * 1.25) + 2048));
    const { resource, version } = this.#options;
    writer.writeSize(tags.traces.resourceSpans);
    const request = writer.begin();
    writer.writeSize(tags.resourceSpans.resource);
    const resourceStart = writer.begin();
    for (const [key, value] of Object.entries(resource)) this.#writeNamed(tags.resource.attributes, key, value);
    writer.end(resourceStart);
    writer.writeSize(tags.resourceSpans.scopeSpans);
    const scopeSpans = writer.begin();
    writer.writeSize(tags.scopeSpans.scope);
    const scope = writer.begin();
    writer.writeSize(tags.scope.name);
    writer.writeText(scopeName);
    writer.writeSize(tags.scope.version);
    writer.writeText(version);
    writer.end(scope);
    for (const span of spans) this.#writeSpan(span);
    writer.end(scopeSpans);
    writer.end(request);
    const bytes = writer.finish();
    this.#spanSize = bytes.length / Math.max(1, spans.length);
    return bytes;
  }

  /** Writes an attribute of the conventions. */
  add(key: AttributeKey, value: Json | undefined): void {
    if (value === undefined) return;
    let prepared = this.#keys.get(key);
    if (!prepared) {
      const name = getAttributeName(key, this.#options.conventions);
      if (name === undefined) return;
      const field = encodeText(tags.keyValue.key, name);
      const kept = variedKeys.has(key) ? undefined : new Map<string, Buffer>();
      prepared = { key: field, kept, last: undefined, lastBytes: field };
      this.#keys.set(key, prepared);
    }
    this.#writer.writeSize(this.#attributeTag);
    // The values of a key are of one type: a text, or a list, whose only text stands for it.
    const text: Json | undefined = Array.isArray(value) && value.length === 1 ? value[0] : value;
    if (typeof text !== 'string' || !prepared.kept || text.length > maxKeptChars)
      return this.#writeKeyValue(prepared.key, value);
    if (prepared.last !== text) {
      prepared.lastBytes = this.#getKept(prepared.kept, text, prepared.key, value);
      prepared.last = text;
    }
    return this.#writer.writeBytes(prepared.lastBytes);
  }

  #getKept(kept: Map<string, Buffer>, text: string, key: Buffer, value: Json): Buffer {
    let bytes = kept.get(text);
    if (!bytes) {
      bytes = this.#encodeApart(() => this.#writeKeyValue(key, value));
      keep(kept, text, bytes);
    }
    return bytes;
  }

  #writeSpan(span: Span): void {
    const writer = this.#writer;
    const { traceId, spanId, parentId, tracestate, start, end = start, error, events } = span;
    writer.writeSize(tags.scopeSpans.spans);
    const message = writer.begin(2);
    if (traceId !== this.#trace.id)
      this.#trace = { id: traceId, bytes: this.#encodeApart(() => this.#writeId(tags.span.traceId, traceId)) };
    writer.writeBytes(this.#trace.bytes);
    this.#writeId(tags.span.spanId, spanId);
    if (tracestate !== undefined) {
      writer.writeSize(tags.span.traceState);
      writer.writeText(tracestate);
    }
    if (parentId !== undefined) this.#writeId(tags.span.parentSpanId, parentId);
    this.#writeName(span);
    writer.writeSize(tags.span.kind);
    writer.writeSize(getSpanKind(span));
    writer.writeSize(tags.span.start);
    writer.writeNanos(start);
    writer.writeSize(tags.span.end);
    writer.writeNanos(end);
    this.#attributeTag = tags.span.attributes;
    this.#writeShared(span);
    addOwnAttributes(span, this.#options, this);
    if (events) for (const event of events) this.#writeEvent(event, span);
    writer.writeSize(tags.span.status);
    const status = writer.begin();
    if (error !== undefined) {
      writer.writeSize(tags.status.message);
      writer.writeText(getStatusMessage(span, this.#options));
      writer.writeSize(tags.status.code);
      writer.writeSize(errorStatus);
    }
    writer.end(status);
    // The number of this field takes two bytes.
    writer.writeSize(tags.span.flags);
    writer.writeFixed32(getSpanFlags(span));
    writer.end(message, 2);
  }

  #writeId(tag: number, id: string): void {
    this.#writer.writeSize(tag);
    this.#writer.writeHex(id);
  }

  #writeShared(span: Span): void {
    const { kind, session, details } = span;
    const kept = getOrCreate(this.#shared, kind);
    let shared = kept.get(session);
    // Those of a compaction depend on its details.
    if (!shared || shared.agent !== details.agent || kind === 'compaction') {
      shared = { agent: details.agent, bytes: this.#encodeApart(() => addSharedAttributes(span, this)) };
      keep(kept, session, shared);
    }
    this.#writer.writeBytes(shared.bytes);
  }

  #writeName(span: Span): void {
    const { kind, name } = span;
    const kept = getOrCreate(this.#names, kind);
    // The name of a request depends on its model too.
    let bytes = kind === 'request' ? undefined : kept.get(name);
    if (!bytes) {
      bytes = encodeText(tags.span.name, getSpanName(span));
      if (kind !== 'request' && name.length <= maxKeptChars) keep(kept, name, bytes);
    }
    this.#writer.writeBytes(bytes);
  }

  #writeEvent(event: SpanEvent, span: Span): void {
    const writer = this.#writer;
    const isEvaluation = event.name === 'evaluation';
    const named = isEvaluation ? undefined : nameEvent(event);
    writer.writeSize(tags.span.events);
    const message = writer.begin();
    writer.writeSize(tags.event.time);
    writer.writeNanos(event.time);
    writer.writeSize(tags.event.name);
    writer.writeText(named?.name ?? evaluationEventName);
    this.#attributeTag = tags.event.attributes;
    if (isEvaluation) addEvaluationAttributes(event.attributes, span, this.#options, this);
    for (const [key, value] of Object.entries(named?.attributes ?? {}))
      this.#writeNamed(tags.event.attributes, key, value);
    writer.end(message);
  }

  #writeNamed(tag: number, key: string, value: Json): void {
    this.#writer.writeSize(tag);
    this.#writeKeyValue(encodeText(tags.keyValue.key, key), value);
  }

  #writeKeyValue(key: Buffer, value: Json): void {
    const writer = this.#writer;
    const message = writer.begin();
    writer.writeBytes(key);
    writer.writeSize(tags.keyValue.value);
    this.#writeValue(value);
    writer.end(message);
  }

  #writeValue(value: Json): void {
    const writer = this.#writer;
    const message = writer.begin();
    if (typeof value === 'boolean') {
      writer.writeSize(tags.anyValue.bool);
      writer.writeSize(value ? 1 : 0);
    } else if (typeof value === 'number') this.#writeNumber(value);
    else if (Array.isArray(value) && value.every((each) => typeof each === 'string')) {
      writer.writeSize(tags.anyValue.array);
      const list = writer.begin();
      for (const each of value) {
        // The field of the values of a list has the same tag as a text.
        writer.writeSize(tags.anyValue.string);
        this.#writeValue(each);
      }
      writer.end(list);
    } else {
      writer.writeSize(tags.anyValue.string);
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      writer.writeText(text.slice(0, this.#options.maxAttributeChars));
    }
    writer.end(message);
  }

  #writeNumber(value: number): void {
    const isInteger = Number.isSafeInteger(value);
    this.#writer.writeSize(isInteger ? tags.anyValue.int : tags.anyValue.double);
    if (isInteger) this.#writer.writeInteger(value);
    else this.#writer.writeDouble(value);
  }

  /** Returns the bytes of something that is written, without adding them to the request. */
  #encodeApart(write: () => void): Buffer {
    const writer = this.#writer;
    this.#writer = new ByteWriter(1024);
    write();
    const bytes = this.#writer.finish();
    this.#writer = writer;
    return Buffer.from(bytes);
  }
}

/** A field with a text. */
function encodeText(tag: number, text: string): Buffer {
  const writer = new ByteWriter(text.length * 3 + 10);
  writer.writeSize(tag);
  writer.writeText(text);
  return writer.finish();
}

function keep<Value>(map: Map<string, Value>, text: string, value: Value): void {
  if (map.size >= maxKeptTexts) map.clear();
  map.set(text, value);
}

function getOrCreate<Value>(maps: Map<string, Map<string, Value>>, kind: string): Map<string, Value> {
  const known = maps.get(kind);
  if (known) return known;
  const created = new Map<string, Value>();
  maps.set(kind, created);
  return created;
}
