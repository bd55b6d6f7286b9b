// Encodes the messages of the OpenTelemetry protocol as protobuf, from their JSON shape and a table of fields, and reads the answer of a receiver.
import { ByteWriter } from './byte-writer.ts';
import type { MetricsRequest } from './messages.ts';

type FieldType = 'string' | 'bool' | 'enum' | 'int64' | 'fixed64' | 'double' | 'fixed64s' | 'doubles' | MessageName;

/** The fields of a message by their JSON name: number and type. A list encodes each of its elements, except the packed types. */
type Fields = Readonly<Record<string, readonly [number: number, type: FieldType]>>;

type MessageName =
  | 'resource'
  | 'scope'
  | 'keyValue'
  | 'anyValue'
  | 'arrayValue'
  | 'metrics'
  | 'resourceMetrics'
  | 'scopeMetrics'
  | 'metric'
  | 'sum'
  | 'histogram'
  | 'numberPoint'
  | 'histogramPoint';

const messages: Readonly<Record<MessageName, Fields>> = {
  resource: { attributes: [1, 'keyValue'] },
  scope: { name: [1, 'string'], version: [2, 'string'] },
  keyValue: { key: [1, 'string'], value: [2, 'anyValue'] },
  anyValue: {
    stringValue: [1, 'string'],
    boolValue: [2, 'bool'],
    intValue: [3, 'int64'],
    doubleValue: [4, 'double'],
    arrayValue: [5, 'arrayValue'],
  },
  arrayValue: { values: [1, 'anyValue'] },
  metrics: { resourceMetrics: [1, 'resourceMetrics'] },
  resourceMetrics: { resource: [1, 'resource'], scopeMetrics: [2, 'scopeMetrics'] },
  scopeMetrics: { scope: [1, 'scope'], metrics: [2, 'metric'] },
  metric: {
    name: [1, 'string'],
    description: [2, 'string'],
    unit: [3, 'string'],
    sum: [7, 'sum'],
    histogram: [9, 'histogram'],
  },
  sum: { dataPoints: [1, 'numberPoint'], aggregationTemporality: [2, 'enum'], isMonotonic: [3, 'bool'] },
  histogram: { dataPoints: [1, 'histogramPoint'], aggregationTemporality: [2, 'enum'] },
  numberPoint: {
    startTimeUnixNano: [2, 'fixed64'],
    timeUnixNano: [3, 'fixed64'],
    asDouble: [4, 'double'],
    attributes: [7, 'keyValue'],
  },
  histogramPoint: {
    startTimeUnixNano: [2, 'fixed64'],
    timeUnixNano: [3, 'fixed64'],
    count: [4, 'fixed64'],
    sum: [5, 'double'],
    bucketCounts: [6, 'fixed64s'],
    explicitBounds: [7, 'doubles'],
    attributes: [9, 'keyValue'],
    min: [11, 'double'],
    max: [12, 'double'],
  },
};

/** Encodes a request to export metrics. */
export const encodeMetrics = (request: MetricsRequest): Buffer => encodeMessage('metrics', request);

function encodeMessage(name: MessageName, message: object): Buffer {
  const writer = new ByteWriter();
  writeMessage(writer, name, message);
  return writer.finish();
}

function writeMessage(writer: ByteWriter, name: MessageName, message: object): void {
  const fields = messages[name];
  for (const [key, value] of Object.entries(message) as [string, unknown][]) {
    const field = fields[key];
    if (!field || value === undefined) continue;
    const [number, type] = field;
    if (!Array.isArray(value) || type === 'fixed64s' || type === 'doubles') writeField(writer, number, type, value);
    else for (const each of value as unknown[]) writeField(writer, number, type, each);
  }
}

const isMessageName = (type: FieldType): type is MessageName => Object.hasOwn(messages, type);

const [varintWire, fixed64Wire, bytesWire, fixed32Wire] = [0, 1, 2, 5];

function writeField(writer: ByteWriter, number: number, type: FieldType, value: unknown): void {
  const tag = (wire: number): void => writer.writeSize((number << 3) | wire);
  if (isMessageName(type)) {
    tag(bytesWire);
    return writer.writeWithLength(() => writeMessage(writer, type, value as object));
  }
  switch (type) {
    case 'string':
      tag(bytesWire);
      return writer.writeText(String(value));
    case 'bool':
      tag(varintWire);
      return writer.writeSize(value === true ? 1 : 0);
    case 'enum':
    case 'int64':
      tag(varintWire);
      return writer.writeInteger(Number(value));
    case 'fixed64':
      tag(fixed64Wire);
      return writer.writeFixed64(String(value));
    case 'double':
      tag(fixed64Wire);
      return writer.writeDouble(Number(value));
    case 'fixed64s':
      tag(bytesWire);
      return writer.writeWithLength(() => (value as readonly string[]).forEach((each) => writer.writeFixed64(each)));
    case 'doubles':
      tag(bytesWire);
      return writer.writeWithLength(() => (value as readonly number[]).forEach((each) => writer.writeDouble(each)));
  }
}

/** What a receiver did not accept of a request that it accepted otherwise. */
export type PartialSuccess = { readonly rejected: number; readonly message: string };

/** Reads `partial_success` of an answer in protobuf; undefined if it has none, or cannot be read. */
export function decodePartialSuccess(body: Buffer): PartialSuccess | undefined {
  try {
    const inner = readFields(body).get(1);
    if (!Buffer.isBuffer(inner)) return undefined;
    const fields = readFields(inner);
    const [rejected, message] = [fields.get(1), fields.get(2)];
    return {
      rejected: typeof rejected === 'bigint' ? Number(rejected) : 0,
      message: Buffer.isBuffer(message) ? message.toString('utf8') : '',
    };
  } catch {
    return undefined;
  }
}

/** Reads the fields of one message: numbers as bigint, everything with a length as bytes. */
function readFields(bytes: Buffer): ReadonlyMap<number, bigint | Buffer> {
  const fields = new Map<number, bigint | Buffer>();
  let at = 0;
  const readVarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 64n; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw new RangeError('A number is too long.');
  };
  while (at < bytes.length) {
    const tag = Number(readVarint());
    const [number, wire] = [tag >>> 3, tag & 7];
    if (wire === varintWire) fields.set(number, readVarint());
    else if (wire === bytesWire) {
      const length = Number(readVarint());
      if (length > bytes.length - at) throw new RangeError('A field is cut off.');
      fields.set(number, bytes.subarray(at, at + length));
      at += length;
    } else if (wire === fixed64Wire) at += 8;
    else if (wire === fixed32Wire) at += 4;
    else throw new RangeError('A field has an unknown type.');
  }
  return fields;
}
