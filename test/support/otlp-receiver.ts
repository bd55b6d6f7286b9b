// Receivers of the OpenTelemetry protocol for tests: one of our own, and the mock server of another project, if it is installed.
import { existsSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { TraceRequest } from '../../src/tracing/otlp/messages.ts';
import { decodeTraces } from './otlp-decoder.ts';

/** A span as a test compares it: attributes by key, 64-bit numbers as text. */
export type ReceivedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number | string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string; readonly attributes: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly message?: string; readonly code?: number | string };
};

/** A receiver and what it has received. */
export type OtlpReceiver = {
  readonly url: string;
  readonly spans: () => readonly ReceivedSpan[];
  readonly metricNames: () => readonly string[];
  readonly contentTypes: () => readonly string[];
};

type Plain = Readonly<Record<string, unknown>>;

/** The value of an attribute as a plain value. */
function toPlain(value: Plain): unknown {
  if ('intValue' in value) return Number(value['intValue']);
  if ('arrayValue' in value) return (value['arrayValue'] as { values: readonly Plain[] }).values.map(toPlain);
  return Object.values(value)[0];
}

const toObject = (attributes: readonly { readonly key: string; readonly value: object }[]): Plain =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, toPlain(value as Plain)]));

const kinds = ['SPAN_KIND_UNSPECIFIED', 'SPAN_KIND_INTERNAL', 'SPAN_KIND_SERVER', 'SPAN_KIND_CLIENT'];

const toReceivedSpans = ({ resourceSpans }: TraceRequest): readonly ReceivedSpan[] =>
  resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
        name: span.name,
        kind: kinds[span.kind] ?? '',
        startTimeUnixNano: span.startTimeUnixNano,
        endTimeUnixNano: span.endTimeUnixNano,
        attributes: toObject(span.attributes),
        events: (span.events ?? []).map(({ name, attributes }) => ({ name, attributes: toObject(attributes) })),
        status: span.status.code === 2 ? { ...span.status, code: 'STATUS_CODE_ERROR' } : {},
      })),
    ),
  );

/** Starts our own receiver on loopback. */
export async function startReceiver(t: Pick<TestContext, 'after'>): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const metricNames: string[] = [];
  const contentTypes: string[] = [];
  const server = http.createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const raw = Buffer.concat(pieces);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
      const isJson = request.headers['content-type'] === 'application/json';
      contentTypes.push(request.headers['content-type'] ?? '');
      if (request.url === '/v1/metrics')
        metricNames.push(...(body.toString('latin1').match(/(?:gen_ai|fairlead)\.[\w.]+/g) ?? []));
      else spans.push(...toReceivedSpans(isJson ? (JSON.parse(body.toString()) as TraceRequest) : decodeTraces(body)));
      response.setHeader('content-type', isJson ? 'application/json' : 'application/x-protobuf');
      response.end(isJson ? '{}' : '');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return { url, spans: () => spans, metricNames: () => metricNames, contentTypes: () => contentTypes };
}

const root = path.resolve(import.meta.dirname, '../..');
const mockFolder = process.env['FAIRLEAD_MOCK_OTLP'] ?? path.join(root, 'node_modules/.cache/mock-otlp');
const mockPackage = '@elastic/mockotlpserver';

/** Why tests with the mock server are skipped; false if it is installed. */
export const missingMock: string | false =
  !existsSync(path.join(mockFolder, 'node_modules', mockPackage)) &&
  `the mock receiver is not installed: npm install --prefix ${path.relative(root, mockFolder)} ${mockPackage}@0.10`;

type MockServer = { readonly httpUrl: string; start(): Promise<void>; close(): Promise<void> };
type MockModule = {
  readonly MockOtlpServer: new (options: object) => MockServer;
  readonly normalizeTrace: (trace: unknown) => TraceRequest;
};

/** Starts the mock server of another project, which decodes requests with the official definitions. */
export async function startMockReceiver(t: Pick<TestContext, 'after'>): Promise<OtlpReceiver> {
  const load = createRequire(path.join(mockFolder, 'package.json'));
  const { MockOtlpServer, normalizeTrace } = load(mockPackage) as MockModule;
  const spans: ReceivedSpan[] = [];
  const contentTypes: string[] = [];
  const server = new MockOtlpServer({
    logLevel: 'error',
    services: ['http'],
    httpHostname: '127.0.0.1',
    httpPort: 0,
    onTrace: (trace: unknown) => {
      for (const { scopeSpans } of normalizeTrace(trace).resourceSpans)
        for (const scope of scopeSpans)
          for (const span of scope.spans as unknown as readonly (ReceivedSpan & { readonly traceState?: string })[])
            spans.push(withoutDefaults(span));
    },
    onRequest: (request: { readonly headers?: Readonly<Record<string, string>> }) =>
      contentTypes.push(request.headers?.['content-type'] ?? ''),
  });
  await server.start();
  t.after(() => server.close());
  return { url: server.httpUrl, spans: () => spans, metricNames: () => [], contentTypes: () => contentTypes };
}

/** The fields that tests compare; a decoder fills in others with their defaults. */
function withoutDefaults(span: ReceivedSpan): ReceivedSpan {
  const { traceId, spanId, parentSpanId, name, kind, startTimeUnixNano, endTimeUnixNano, attributes, events, status } =
    span;
  const numbers = Object.entries(attributes).map(
    ([key, value]) => [key, isCount(key) ? Number(value) : value] as const,
  );
  const code = status.code === 2 || status.code === 'STATUS_CODE_ERROR' ? 'STATUS_CODE_ERROR' : undefined;
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined || parentSpanId === '' ? {} : { parentSpanId }),
    name,
    kind: typeof kind === 'number' ? (kinds[kind] ?? '') : kind,
    startTimeUnixNano,
    endTimeUnixNano,
    attributes: Object.fromEntries(numbers),
    events: (events ?? []).map((event) => ({
      name: event.name,
      attributes: Object.fromEntries(
        Object.entries(event.attributes).map(([key, value]) => [key, isCount(key) ? Number(value) : value]),
      ),
    })),
    status: code === undefined ? {} : { message: status.message ?? '', code },
  };
}

/** Whole numbers arrive as text from some encodings. */
const isCount = (key: string): boolean => /tokens$|\.turn$|port$|score\.value$|attempt$/.test(key);
