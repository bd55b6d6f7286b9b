// Export of traces: a receiver that is down, slow, flapping or that rejects spans never blocks a run, and what is lost is counted and reported.
import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { defaultLimits } from '../src/agent/index.ts';
import type { Fact, RunState } from '../src/core/index.ts';
import {
  createTracer,
  exportSpans,
  readTracingOptions,
  type Span,
  type Tracer,
  type TracingOptions,
} from '../src/tracing/index.ts';
import { ExportQueue } from '../src/tracing/otlp/exporter.ts';
import type { TraceRequest } from '../src/tracing/otlp/messages.ts';
import { createSender } from '../src/tracing/otlp/send.ts';
import { createConversion, createSpanQueue } from '../src/tracing/tracer.ts';
import { decodeTraces } from './support/otlp-decoder.ts';

type Received = { readonly headers: http.IncomingHttpHeaders; readonly request: TraceRequest };
type Answer = (response: http.ServerResponse, count: number) => void;

/** A receiver on loopback that keeps what it accepts; `answer` sees the number of the request. */
async function startReceiver(
  t: TestContext,
  answer: Answer = (response) => response.end('{}'),
): Promise<{ readonly url: string; readonly received: readonly Received[]; readonly requests: () => number }> {
  const received: Received[] = [];
  let count = 0;
  const server = http.createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const raw = Buffer.concat(pieces);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
      const isJson = request.headers['content-type'] === 'application/json';
      const decoded = isJson ? (JSON.parse(body.toString()) as TraceRequest) : decodeTraces(body);
      response.setHeader('content-type', 'application/json');
      response.once('finish', () => {
        if (response.statusCode === 200) received.push({ headers: request.headers, request: decoded });
      });
      answer(response, ++count);
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
  return { url: `http://127.0.0.1:${port}`, received, requests: () => count };
}

const createOptions = (url: string, env: Readonly<Record<string, string>> = {}): TracingOptions => {
  const options = readTracingOptions({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_METRICS_EXPORTER: 'none', ...env });
  assert.ok(options?.traces);
  return options;
};

const createSpans = (count: number): readonly Span[] =>
  Array.from({ length: count }, (_, i) => ({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: (i + 1).toString(16).padStart(16, '0'),
    session: 's',
    kind: 'tool',
    name: 'work',
    start: 1000 + i,
    end: 2000 + i,
    details: { tool: 'work', call: `c${i}`, outcome: 'ok' },
  }));

const countSpans = (received: readonly Received[]): number =>
  received.reduce(
    (sum, { request }) =>
      sum + request.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)).length,
    0,
  );

/** A queue with short waits, as the exporter has it otherwise. */
function createQueue(
  url: string,
  more: Partial<ConstructorParameters<typeof ExportQueue<Span>>[0]> = {},
): ExportQueue<Span> {
  const options = createOptions(url, { OTEL_EXPORTER_OTLP_TIMEOUT: '300' });
  const { traces } = options;
  assert.ok(traces);
  return new ExportQueue<Span>({
    send: createSender(traces),
    encode: () => ({ json: () => '{}', protobuf: () => Buffer.alloc(0) }),
    maxQueue: 2048,
    maxBatch: 512,
    delayMs: 5,
    backoffMs: 5,
    ...more,
  });
}

test('[A50] spans arrive in JSON and in protobuf, compressed or not, with the headers of the user', async (t) => {
  const { url, received } = await startReceiver(t);
  for (const protocol of ['http/json', 'http/protobuf'])
    for (const compression of ['gzip', 'none']) {
      const options = createOptions(url, {
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_EXPORTER_OTLP_COMPRESSION: compression,
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc,x-langfuse-ingestion-version=4',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
        OTEL_SERVICE_NAME: 'mine',
      });
      const counts = await exportSpans(createSpans(3), { options, version: '9' });
      assert.deepEqual(counts, { added: 3, delivered: 3, lost: 0 });
    }
  assert.equal(received.length, 4);
  for (const { headers, request } of received) {
    assert.equal(headers['authorization'], 'Basic abc');
    assert.equal(headers['x-langfuse-ingestion-version'], '4');
    assert.deepEqual(request, received[0]?.request, 'every encoding has the same content');
  }
  const [first] = received[0]?.request.resourceSpans ?? [];
  const attributes = Object.fromEntries((first?.resource.attributes ?? []).map(({ key, value }) => [key, value]));
  assert.deepEqual(attributes['service.name'], { stringValue: 'mine' });
  assert.deepEqual(attributes['deployment.environment.name'], { stringValue: 'test' });
});

test('[A50] 10,000 spans to a receiver that is down: adding returns at once, memory is bounded, and every loss is counted', async () => {
  const queue = createQueue('http://127.0.0.1:1');
  let largest = 0;
  for (const span of createSpans(10_000)) {
    queue.add(span);
    largest = Math.max(largest, queue.pending);
  }
  assert.ok(largest <= 2048 + 512, `${largest} spans wait`);
  const counts = await queue.flush(2000);
  assert.deepEqual(counts, { added: 10_000, delivered: 0, lost: 10_000 });
  assert.equal(queue.pending, 0);
  assert.equal(queue.lastProblem, 'ECONNREFUSED');
});

test('[A50] 10,000 spans to a receiver that answers slowly: the deadline holds, and what is not delivered is counted', async (t) => {
  const { url, received } = await startReceiver(t, (response) => {
    setTimeout(() => response.end('{}'), 100);
  });
  const options = createOptions(url);
  assert.ok(options.traces);
  const queue = createSpanQueue(
    options.traces,
    { maxQueue: 2048, maxBatch: 64, delayMs: 5 },
    createConversion(options, '0', undefined),
  );
  for (const span of createSpans(10_000)) queue.add(span);
  const counts = await queue.flush(500);
  assert.equal(counts.added, 10_000);
  assert.equal(counts.delivered + counts.lost, 10_000, 'nothing is left out of the count');
  assert.ok(counts.lost > 0 && counts.delivered > 0, JSON.stringify(counts));
  assert.ok(countSpans(received) >= counts.delivered);
});

test('[A50] 10,000 spans to a receiver that never answers: requests time out and the flush ends at its deadline', async (t) => {
  const { url } = await startReceiver(t, () => {});
  const queue = createQueue(url);
  for (const span of createSpans(10_000)) queue.add(span);
  const counts = await queue.flush(400);
  assert.deepEqual(counts, { added: 10_000, delivered: 0, lost: 10_000 });
});

test('[A50] 10,000 spans to a receiver that fails every other time: attempts are repeated, and no span arrives twice or is lost', async (t) => {
  const { url, received } = await startReceiver(t, (response, count) => {
    if (count % 2 === 1) response.writeHead(503, { 'retry-after': '0' });
    response.end('{}');
  });
  const options = createOptions(url);
  assert.ok(options.traces);
  const counts = await exportSpans(createSpans(10_000), { options, version: '0' });
  assert.deepEqual(counts, { added: 10_000, delivered: 10_000, lost: 0 });
  const ids = received.flatMap(({ request }) =>
    request.resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) => spans.map(({ spanId }) => spanId)),
    ),
  );
  assert.equal(ids.length, 10_000);
  assert.equal(new Set(ids).size, 10_000);
});

test('[A50] spans that the receiver rejects are lost with its reason, and a refused request is not repeated', async (t) => {
  const partial = await startReceiver(t, (response) => {
    response.end(JSON.stringify({ partialSuccess: { rejectedSpans: '2', errorMessage: 'too old' } }));
  });
  const some = await exportSpans(createSpans(5), { options: createOptions(partial.url), version: '0' });
  assert.deepEqual(some, { added: 5, delivered: 3, lost: 2, problem: 'the receiver rejected them: too old' });
  for (const status of [400, 401, 404, 415, 302]) {
    const refused = await startReceiver(t, (response) => {
      response.writeHead(status, { location: `${partial.url}/v1/traces` }).end();
    });
    const none = await exportSpans(createSpans(5), { options: createOptions(refused.url), version: '0' });
    assert.deepEqual(none, { added: 5, delivered: 0, lost: 5, problem: `status ${status}` });
    assert.equal(refused.requests(), 1);
  }
  assert.equal(partial.requests(), 1, 'a redirect is not followed');
});

test('[A50] a receiver that asks to wait is waited for', async (t) => {
  const { url, requests } = await startReceiver(t, (response, count) => {
    if (count === 1) response.writeHead(429, { 'retry-after-ms': '150' });
    response.end('{}');
  });
  const queue = createQueue(url, { send: createSender({ ...requireTarget(url), protocol: 'http/json' }) });
  const startedAt = performance.now();
  queue.add(createSpans(1)[0] as Span);
  while (queue.pending > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(queue.counts.delivered, 1);
  assert.equal(requests(), 2);
  assert.ok(performance.now() - startedAt >= 140, 'it waited as long as it was asked to');
});

const requireTarget = (url: string): NonNullable<TracingOptions['traces']> => {
  const { traces } = createOptions(url);
  assert.ok(traces);
  return traces;
};

test('[A50] the variables of OpenTelemetry decide whether, where and how is exported', () => {
  assert.equal(readTracingOptions({}), undefined, 'without a variable there is no tracing');
  const on = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };
  assert.equal(readTracingOptions({ ...on, OTEL_SDK_DISABLED: 'true' }), undefined);
  assert.equal(readTracingOptions({ ...on, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }), undefined);
  const options = readTracingOptions(on);
  assert.equal(options?.traces?.url, 'http://collector:4318/v1/traces');
  assert.equal(options.metrics?.url, 'http://collector:4318/v1/metrics');
  assert.deepEqual(
    [options.traces.protocol, options.traces.compression, options.traces.timeoutMs],
    ['http/protobuf', 'none', 10_000],
  );
  assert.deepEqual([options.maxQueue, options.maxBatch, options.delayMs], [2048, 512, 5000]);
  assert.deepEqual([options.content, options.conventions, options.propagates], [false, 'v1.41', true]);
  const own = readTracingOptions({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://cloud.example/api/public/otel/v1/traces',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '77',
    OTEL_SEMCONV_STABILITY_OPT_IN: 'http, gen_ai_latest_experimental',
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
    OTEL_PROPAGATORS: 'none',
    OTEL_BSP_MAX_QUEUE_SIZE: '10',
  });
  assert.equal(own?.traces?.url, 'https://cloud.example/api/public/otel/v1/traces', 'an own address is used as it is');
  assert.equal(own.metrics, undefined, 'the address of traces is no address for metrics');
  assert.deepEqual([own.traces.protocol, own.traces.timeoutMs], ['http/json', 77]);
  assert.deepEqual(
    [own.content, own.conventions, own.propagates, own.maxQueue, own.maxBatch],
    [true, 'latest', false, 10, 10],
  );
  assert.equal(readTracingOptions({ OTEL_TRACES_EXPORTER: 'otlp' })?.traces?.url, 'http://localhost:4318/v1/traces');
  const odd = readTracingOptions({
    ...on,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_BSP_MAX_QUEUE_SIZE: 'many',
    OTEL_METRICS_EXPORTER: 'console',
  });
  assert.deepEqual(odd?.problems.length, 3);
  for (const address of ['file:///etc/passwd', 'collector:4318', 'collector']) {
    const none = readTracingOptions({ OTEL_EXPORTER_OTLP_ENDPOINT: address });
    assert.deepEqual([none?.traces, none?.metrics, none?.problems.length], [undefined, undefined, 2], address);
  }
  const empty = readTracingOptions({ ...on, OTEL_PROPAGATORS: '', OTEL_TRACES_SAMPLER_ARG: '' });
  assert.equal(empty?.propagates, true, 'an empty variable is as an absent one');
  const ratio = readTracingOptions({ ...on, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: 'half' });
  assert.deepEqual([ratio?.sampling.share, ratio?.problems.length], [1, 1]);
  const twice = readTracingOptions({ ...on, OTEL_EXPORTER_OTLP_HEADERS: 'a b=c', OTEL_EXPORTER_OTLP_TIMEOUT: 'x' });
  assert.equal(twice?.problems.length, 2, 'a problem of traces and metrics is told once');
});

test('[A50] an export after the fact tries again as often as an export of a run, and waits as long as the receiver asks for', async (t) => {
  const { url, requests } = await startReceiver(t, (response, count) => {
    response.statusCode = count < 5 ? (count % 2 === 0 ? 503 : 429) : 200;
    response.setHeader('retry-after-ms', '20');
    response.end('{}');
  });
  const counts = await exportSpans(createSpans(3), { options: createOptions(url), version: '1' });
  assert.deepEqual([counts.delivered, counts.lost, requests()], [3, 0, 5]);
});

/** A session whose runs the tracer observes, without a model. */
function createEvents(session: string): (tracer: Tracer, runs: number) => void {
  let seq = 0;
  const state = { session, model: 'm', modelOrigin: {}, run: undefined } as unknown as RunState;
  const add = (tracer: Tracer, fact: Fact, run: string): void => {
    const [id, parent, time] = [`e${++seq}`, `e${seq - 1}`, new Date(Date.UTC(2026, 0, 1, 0, 0, 0, seq)).toISOString()];
    tracer.onEvent({ ...fact, seq, id, parent, time }, { ...state, run });
  };
  return (tracer, runs) => {
    for (let i = 0; i < runs; i++) {
      const run = `r${i}`;
      add(tracer, { type: 'run-started', run, limits: defaultLimits }, run);
      add(tracer, { type: 'tool-started', call: `c${i}`, tool: 'work', key: `${session}/c${i}` }, run);
      add(tracer, { type: 'tool-ended', call: `c${i}`, outcome: 'ok', ms: 1, text: 'done' }, run);
      add(tracer, { type: 'run-ended', reason: 'answered' }, run);
    }
  };
}

test('[A50] events wait until their spans are exported: after the delay without a flush, and in the order of the session', async (t) => {
  const { url, received } = await startReceiver(t);
  const tracer = createTracer({ options: { ...createOptions(url), delayMs: 30 }, version: '0' });
  createEvents('s1')(tracer, 2);
  while (countSpans(received) < 4) await new Promise((resolve) => setTimeout(resolve, 10));
  createEvents('s2')(tracer, 1);
  while (countSpans(received) < 6) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(await tracer.close(), { added: 6, delivered: 6, lost: 0 });
  const spans = received.flatMap(({ request }) =>
    request.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  );
  assert.deepEqual(
    spans.map(({ name }) => name),
    Array.from({ length: 3 }, () => ['execute_tool work', 'invoke_agent fairlead']).flat(),
  );
  assert.ok(spans[0]?.parentSpanId === spans[1]?.spanId && spans[0]?.traceId === spans[1]?.traceId);
});

test('[A50] 10,000 spans of runs to a receiver that is down: the waiting events are bounded, and the loss is counted and reported', async () => {
  const warnings: string[] = [];
  const options = { ...createOptions('http://127.0.0.1:1'), maxQueue: 100, maxBatch: 10 };
  const tracer = createTracer({ options, version: '0', onWarning: (text) => warnings.push(text) });
  createEvents('s1')(tracer, 5000);
  assert.equal(tracer.counts.lost, 9900, 'the spans that the queue has no place for are lost at once');
  assert.deepEqual(await tracer.close(2000), { added: 10_000, delivered: 0, lost: 10_000 });
  assert.deepEqual(warnings, [
    'Tracing: 10000 of 10000 spans were not delivered to http://127.0.0.1:1/v1/traces: ECONNREFUSED.',
  ]);
});
