// The tracer of a process: builds spans while sessions run, exports them in the background, and reports what was lost. It never blocks or fails a run.
import { formatTraceparent, type RunState, type TraceContext, type TracePort } from '../core/index.ts';
import { toolSpanId, type SpanPlace } from './ids.ts';
import { toKeyValues } from './otlp/messages.ts';
import { encodeMetrics, encodeTraces } from './otlp/protobuf.ts';
import { createSender, type OtlpMessage } from './otlp/send.ts';
import { ExportQueue, type ExportCounts, type ExportQueueOptions } from './otlp/exporter.ts';
import type { OtlpTarget, TracingOptions } from './options.ts';
import type { Span } from './span.ts';
import { SpanMetrics } from './span-metrics.ts';
import { createTraceRequest, type ConversionOptions } from './to-otlp.ts';
import type { ModelInfo } from './builder-options.ts';
import { TraceBuilder } from './trace-builder.ts';

/** What a tracer needs besides the options. */
export type TracerOptions = {
  readonly options: TracingOptions;
  /** The version of the program, for the resource and the scope. */
  readonly version: string;
  /** The name of the agent; `fairlead` by default. */
  readonly agent?: string;
  /** Removes secrets from texts, if content is exported. Without it content is not exported. */
  readonly redact?: (text: string) => string;
  /** Receives each span that ends, besides the export. */
  readonly onSpan?: (span: Span) => void;
  /** Called once with each problem, and at the end with what was lost. */
  readonly onWarning?: (text: string) => void;
};

/** A tracer. Set it as `trace` of an agent; call `close` before the program ends. */
export type Tracer = TracePort & {
  /** What was exported so far. */
  readonly counts: ExportCounts;
  /** Sends what waits, for at most so many milliseconds; 2000 by default. */
  flush(deadlineMs?: number): Promise<ExportCounts>;
  /** Flushes, stops the export, and warns once if spans were lost. */
  close(deadlineMs?: number): Promise<ExportCounts>;
};

/** Max sessions whose open spans are kept, and max tool calls that a sub-agent can be the child of. */
const [maxSessions, maxPlaces] = [2000, 10_000];
const defaultDeadlineMs = 2000;

/** Creates a tracer; nothing is sent before the first span ends. */
export function createTracer(tracer: TracerOptions): Tracer {
  const { options, version, agent, redact, onWarning = () => {} } = tracer;
  const content = options.content && redact !== undefined;
  const conversion = createConversion(options, version, redact);
  const builders = new Map<string, TraceBuilder>();
  const places = new Map<string, SpanPlace>();
  const metrics = options.metrics && new SpanMetrics(options.conventions, options.isDelta);
  const spans = options.traces && createSpanQueue(options.traces, options, conversion);
  const stopMetrics = new AbortController();
  let reportedLoss = 0;
  for (const problem of options.problems) onWarning(`Tracing: ${problem}`);
  if (options.content && !redact) onWarning('Tracing: texts are not sent, because there is no redactor.');

  const sendMetrics = options.metrics && metrics && createMetricsSender(options.metrics, metrics, conversion);
  const countLoss = (): void => {
    const lost = spans?.counts.lost ?? 0;
    metrics?.addLost(lost - reportedLoss);
    reportedLoss = lost;
  };
  let isSendingMetrics = false;
  const timer = sendMetrics
    ? setInterval(() => {
        countLoss();
        if (isSendingMetrics) return;
        isSendingMetrics = true;
        void sendMetrics(stopMetrics.signal).finally(() => (isSendingMetrics = false));
      }, options.metricsIntervalMs).unref()
    : undefined;

  function onSpan(span: Span): void {
    metrics?.add(span);
    spans?.add(span);
    tracer.onSpan?.(span);
  }

  /** A tool call of another session, or the derived place of one that this process has not seen. */
  function findParent(key: string): SpanPlace | undefined {
    return places.get(toolSpanId(key));
  }

  function sample(traceId: string, parent: SpanPlace | undefined): boolean {
    const { share, isParentBased } = options.sampling;
    if (parent && isParentBased) return parent.isSampled;
    return share >= 1 || Number.parseInt(traceId.slice(-13), 16) / 16 ** 13 < share;
  }

  function builderOf(state: RunState): TraceBuilder {
    const known = builders.get(state.session);
    if (known) return known;
    const { modelProvider, modelHost } = state.modelOrigin;
    const model: ModelInfo = {
      model: state.model,
      ...(modelProvider === undefined ? {} : { provider: modelProvider }),
      ...(modelHost === undefined ? {} : { host: modelHost }),
    };
    const named = agent === undefined ? {} : { agent };
    const builder = new TraceBuilder({ session: state.session, ...named, onSpan, findParent, sample, model, content });
    forgetOldest(builders, maxSessions);
    builders.set(state.session, builder);
    return builder;
  }

  function flush(deadlineMs: number = defaultDeadlineMs): Promise<ExportCounts> {
    return flushAll(deadlineMs);
  }

  async function flushAll(deadlineMs: number): Promise<ExportCounts> {
    const until = Date.now() + deadlineMs;
    // Sockets and the timers of signals do not keep the process alive: without this timer it could end before the receiver has answered, and before the loss is reported.
    const alive = setTimeout(() => {}, deadlineMs);
    try {
      await spans?.flush(deadlineMs);
      countLoss();
      await sendMetrics?.(AbortSignal.timeout(Math.max(1, until - Date.now())));
    } finally {
      clearTimeout(alive);
    }
    return spans?.counts ?? { added: 0, delivered: 0, lost: 0 };
  }

  return {
    get counts() {
      return spans?.counts ?? { added: 0, delivered: 0, lost: 0 };
    },
    onEvent(event, state) {
      const builder = builderOf(state);
      builder.on(event, event.type === 'run-ended' ? undefined : state.run);
      if (event.type === 'tool-started') {
        const place = builder.findTool(event.key);
        forgetOldest(places, maxPlaces);
        if (place) places.set(toolSpanId(event.key), place);
      }
    },
    contextOf(state, key) {
      if (!options.propagates) return undefined;
      const builder = builders.get(state.session);
      return toContext(key === undefined ? builder?.requestPlace : builder?.findTool(key));
    },
    flush,
    async close(deadlineMs = defaultDeadlineMs) {
      clearInterval(timer);
      stopMetrics.abort();
      const counts = await flushAll(deadlineMs);
      if (counts.lost > 0)
        onWarning(
          `Tracing: ${counts.lost} of ${counts.added} spans were not delivered to ${redactAddress(options.traces)}: ${spans?.lastProblem ?? 'unknown'}.`,
        );
      return counts;
    },
  };
}

/** How spans of these options are converted. */
export const createConversion = (
  options: TracingOptions,
  version: string,
  redact: ((text: string) => string) | undefined,
): ConversionOptions => ({
  conventions: options.conventions,
  content: options.content && redact !== undefined,
  redact: redact ?? (() => ''),
  maxAttributeChars: options.maxAttributeChars,
  resource: {
    'service.version': version,
    'telemetry.sdk.name': 'fairlead',
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.version': version,
    ...options.resource,
  },
  version,
});

/** Creates the queue that sends spans. */
export const createSpanQueue = (
  target: OtlpTarget,
  { maxQueue, maxBatch, delayMs }: Pick<TracingOptions, 'maxQueue' | 'maxBatch' | 'delayMs'>,
  conversion: ConversionOptions,
  attempts: Pick<ExportQueueOptions<Span>, 'isPatient' | 'backoffMs'> = {},
): ExportQueue<Span> =>
  new ExportQueue({
    send: createSender(target),
    encode: (batch) => createMessage(batch, conversion),
    maxQueue,
    maxBatch,
    delayMs,
    ...attempts,
  });

function createMessage(batch: readonly Span[], conversion: ConversionOptions): OtlpMessage {
  const request = createTraceRequest(batch, conversion);
  return { json: () => JSON.stringify(request), protobuf: () => encodeTraces(request) };
}

function createMetricsSender(
  target: OtlpTarget,
  metrics: SpanMetrics,
  { resource, version }: ConversionOptions,
): (signal: AbortSignal) => Promise<void> {
  const send = createSender(target);
  return async (signal) => {
    const request = metrics.take(toKeyValues(resource, 1000), version);
    if (request) await send({ json: () => JSON.stringify(request), protobuf: () => encodeMetrics(request) }, signal);
  };
}

function toContext(place: SpanPlace | undefined): TraceContext | undefined {
  if (!place) return undefined;
  return {
    traceparent: formatTraceparent(place),
    ...(place.tracestate === undefined ? {} : { tracestate: place.tracestate }),
  };
}

function forgetOldest(map: Map<string, unknown>, max: number): void {
  const [oldest] = map.keys();
  if (map.size >= max && oldest !== undefined) map.delete(oldest);
}

/** The address without a name, a password or a query. */
function redactAddress(target: OtlpTarget | undefined): string {
  const url = URL.parse(target?.url ?? '');
  return url ? `${url.origin}${url.pathname}` : '';
}
