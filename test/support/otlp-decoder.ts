// Decodes spans of the OpenTelemetry protocol from protobuf, independently of the encoder: field numbers as in opentelemetry/proto/trace/v1.
import type { TraceRequest } from '../../src/tracing/otlp/messages.ts';

type Field = { readonly number: number; readonly value: bigint | Uint8Array };

function readFields(bytes: Uint8Array): readonly Field[] {
  const fields: Field[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = view.getUint8(at++);
      value += BigInt(byte % 128) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = Math.floor(tag / 8);
    if (tag % 8 === 0) fields.push({ number, value: varint() });
    else if (tag % 8 === 1) {
      fields.push({ number, value: view.getBigUint64(at, true) });
      at += 8;
    } else if (tag % 8 === 2) {
      const length = Number(varint());
      fields.push({ number, value: bytes.subarray(at, at + length) });
      at += length;
    } else if (tag % 8 === 5) {
      fields.push({ number, value: BigInt(view.getUint32(at, true)) });
      at += 4;
    } else throw new Error(`wire type ${tag % 8}`);
  }
  return fields;
}

type Reader<T> = (value: bigint | Uint8Array) => T;
const bytesOf: Reader<Uint8Array> = (value) => value as Uint8Array;
const text: Reader<string> = (value) => new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(value));
const hex: Reader<string> = (value) => Buffer.from(bytesOf(value)).toString('hex');
const number: Reader<number> = (value) => Number(value);
const unsigned: Reader<string> = (value) => String(value);
const signed: Reader<string> = (value) => String(BigInt.asIntN(64, value as bigint));
const double: Reader<number> = (value) => {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, value as bigint);
  return view.getFloat64(0);
};

type Shape = Readonly<Record<number, readonly [name: string, read: Reader<unknown>, repeated?: 'repeated']>>;

const message =
  (shape: () => Shape): Reader<Record<string, unknown>> =>
  (value) => {
    const result: Record<string, unknown> = {};
    const fields = shape();
    for (const [name, , repeated] of Object.values(fields)) if (repeated && alwaysListed.has(name)) result[name] = [];
    for (const each of readFields(bytesOf(value))) {
      const field = fields[each.number];
      if (!field) throw new Error(`unknown field ${each.number}`);
      const [name, read, repeated] = field;
      if (repeated) ((result[name] ??= []) as unknown[]).push(read(each.value));
      else result[name] = read(each.value);
    }
    return result;
  };

/** Lists that the JSON encoding of the exporter always has. */
const alwaysListed = new Set(['attributes', 'spans', 'scopeSpans', 'resourceSpans', 'values']);

const anyValue: Reader<Record<string, unknown>> = message(() => ({
  1: ['stringValue', text],
  2: ['boolValue', (value) => value === 1n],
  3: ['intValue', signed],
  4: ['doubleValue', double],
  5: ['arrayValue', message(() => ({ 1: ['values', anyValue, 'repeated'] }))],
}));
const keyValue = message(() => ({ 1: ['key', text], 2: ['value', anyValue] }));
const event = message(() => ({
  1: ['timeUnixNano', unsigned],
  2: ['name', text],
  3: ['attributes', keyValue, 'repeated'],
}));
const status = message(() => ({ 2: ['message', text], 3: ['code', number] }));
const span = message(() => ({
  1: ['traceId', hex],
  2: ['spanId', hex],
  3: ['traceState', text],
  4: ['parentSpanId', hex],
  5: ['name', text],
  6: ['kind', number],
  7: ['startTimeUnixNano', unsigned],
  8: ['endTimeUnixNano', unsigned],
  9: ['attributes', keyValue, 'repeated'],
  11: ['events', event, 'repeated'],
  15: ['status', status],
  16: ['flags', number],
}));
const scope = message(() => ({ 1: ['name', text], 2: ['version', text] }));
const scopeSpans = message(() => ({ 1: ['scope', scope], 2: ['spans', span, 'repeated'] }));
const resource = message(() => ({ 1: ['attributes', keyValue, 'repeated'] }));
const resourceSpans = message(() => ({ 1: ['resource', resource], 2: ['scopeSpans', scopeSpans, 'repeated'] }));

/** Decodes an `ExportTraceServiceRequest`; an unknown field is an error. */
export const decodeTraces = (bytes: Uint8Array): TraceRequest =>
  message(() => ({ 1: ['resourceSpans', resourceSpans, 'repeated'] }))(bytes) as unknown as TraceRequest;
