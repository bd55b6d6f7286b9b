// The tracer of a process: builds spans while sessions run, exports them in the background, and reports what was lost. It never blocks or fails a run.
import {
  errorMessage,
  formatTraceparent,
  type Event,
  type RunState,
  type TraceContext,
  type TracePort,
} from '../core/index.ts';
import { createSpanEncoder } from './encode-spans.ts';
import { EventBuffer, type TracedEvent } from './event-buffer.ts';
import { toolSpanId, type SpanContext } from './ids.ts';
import { toKeyValues } from './otlp/messages.ts';
import { encodeMetrics } from './otlp/protobuf.ts';
import { createSender, type Connections } from './otlp/send.ts';
import { ExportQueue, type ExportCounts, type ExportQueueOptions } from './otlp/exporter.ts';
import type { OtlpTarget, TracingOptions } from './options.ts';
import type { Span } from './span.ts';
import { SpanMetrics } from './span-metrics.ts';
import { createTraceRequest, type ConversionOptions } from './to-otlp.ts';
import type { ModelInfo } from './builder-options.ts';
import { RecentMap } from './recent-map.ts';
import { SessionContexts, type RunSpanContexts } from './session-contexts.ts';
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
  /** Receives each span when it ends, besides the export. */
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
const [maxSessions, maxToolRuns] = [2000, 10_000];
const defaultDeadlineMs = 2000;
/** Max events whose spans are not built yet. */
const maxWaitingEvents = 1024;

/** A session, and what its latest event belongs to. */
type TracedSession = { readonly session: string; readonly contexts: SessionContexts; latest: TracedEvent };

/** Creates a tracer; nothing is sent before the first span ends. */
export function createTracer(tracer: TracerOptions): Tracer {
  const { options, version, agent, redact, onWarning = () => {} } = tracer;
  const content = options.content && redact !== undefined;
  const conversion = createConversion(options, version, redact);
  const sessions = new RecentMap<TracedSession>(maxSessions);
  /** The session of the latest event: that of the next one is usually the same. */
  let latest: TracedSession | undefined;
  /** The runs of tool calls, by the key of the call. */
  const toolRuns = new RecentMap<RunSpanContexts>(maxToolRuns);
  const connections: Connections = new Map();
  const metrics = options.metrics && new SpanMetrics(options.conventions, options.isDelta);
  const spans =
    options.traces &&
    createSpanQueue(options.traces, options, conversion, { collect: () => events.build(), connections });
  let hasFailed = false;
  const events = new EventBuffer({
    // Half of the queue: the spans of so many events do not fill it. A listener gets each span when it ends.
    maxEvents: tracer.onSpan ? 1 : Math.min(maxWaitingEvents, Math.ceil(options.maxQueue / 2)),
    findRun,
    onWaiting: () => spans?.schedule(),
    onError(error) {
      if (!hasFailed) onWarning(`Tracing: the span of an event could not be built: ${errorMessage(error)}`);
      hasFailed = true;
    },
  });
  const stopMetrics = new AbortController();
  let reportedLoss = 0;
  for (const problem of options.problems) onWarning(`Tracing: ${problem}`);
  if (options.content && !redact) onWarning('Tracing: texts are not sent, because there is no redactor.');

  const sendMetrics =
    options.metrics && metrics && createMetricsSender(options.metrics, metrics, conversion, connections);
  const countLoss = (): void => {
    const lost = spans?.counts.lost ?? 0;
    metrics?.addLost(lost - reportedLoss);
    reportedLoss = lost;
  };
  let isSendingMetrics = false;
  const timer = sendMetrics
    ? setInterval(() => {
        events.build();
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

  /** The context of a tool call that this process has seen. */
  function findTool(key: string): SpanContext | undefined {
    return toolRuns.get(key)?.getContext(toolSpanId(key));
  }

  function sample(traceId: string, parent: SpanContext | undefined): boolean {
    const { share, isParentBased } = options.sampling;
    if (parent && isParentBased) return parent.isSampled;
    return share >= 1 || Number.parseInt(traceId.slice(-13), 16) / 16 ** 13 < share;
  }

  function openSession(state: RunState): TracedSession {
    const { session, model, modelOrigin } = state;
    const { modelProvider, modelHost } = modelOrigin;
    const info: ModelInfo = {
      model,
      ...(modelProvider === undefined ? {} : { provider: modelProvider }),
      ...(modelHost === undefined ? {} : { host: modelHost }),
    };
    const named = agent === undefined ? {} : { agent };
    const contexts = new SessionContexts({ session, findParent: findTool, sample });
    const builder = new TraceBuilder({ session, ...named, onSpan, model: info, content });
    const opened = { session, contexts, latest: { builder, run: undefined } };
    sessions.set(session, opened);
    return opened;
  }

  function findRun(event: Event, state: RunState): TracedEvent {
    if (state.session !== latest?.session) latest = findSession(state) ?? openSession(state);
    const run = latest.contexts.on(event, state.run);
    if (event.type === 'tool-started' && run) toolRuns.set(event.key, run);
    if (run !== latest.latest.run) latest.latest = { builder: latest.latest.builder, run };
    return latest.latest;
  }

  function findSession({ session }: RunState): TracedSession | undefined {
    return session === latest?.session ? latest : sessions.get(session);
  }

  /** The run of a turn that has just started, if its state and the last events tell: the runs of all events are found later, many at once. Undefined where the log has a gap, for example. */
  function findActiveRun(state: RunState): RunSpanContexts | undefined {
    const start = events.findStart(state);
    const contexts = start && findSession(state)?.contexts;
    const run = start === 'known' ? contexts?.run : start && contexts?.prepare(start);
    return run?.run === state.run ? run : undefined;
  }

  function flush(deadlineMs: number = defaultDeadlineMs): Promise<ExportCounts> {
    return flushAll(deadlineMs);
  }

  async function flushAll(deadlineMs: number): Promise<ExportCounts> {
    const until = Date.now() + deadlineMs;
    events.build();
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
      events.build();
      return spans?.counts ?? { added: 0, delivered: 0, lost: 0 };
    },
    onEvent(event, state) {
      events.add(event, state);
    },
    contextOf(state, key) {
      if (!options.propagates) return undefined;
      if (key !== undefined) {
        events.findRuns();
        return toContext(findTool(key));
      }
      const run = findActiveRun(state);
      if (run) return toContext(run.getModelContext(state.turn));
      events.findRuns();
      return toContext(findSession(state)?.contexts.request);
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

/** How a queue of spans is filled, tried again and connected. */
type SpanQueueOptions = Pick<ExportQueueOptions<Span>, 'collect' | 'isPatient' | 'backoffMs'> & {
  readonly connections?: Connections;
};

/** Creates the queue that sends spans. */
export function createSpanQueue(
  target: OtlpTarget,
  { maxQueue, maxBatch, delayMs }: Pick<TracingOptions, 'maxQueue' | 'maxBatch' | 'delayMs'>,
  conversion: ConversionOptions,
  { connections, ...more }: SpanQueueOptions = {},
): ExportQueue<Span> {
  const encodeSpans = createSpanEncoder(conversion);
  return new ExportQueue({
    send: createSender(target, connections),
    encode: (batch) => ({
      json: () => JSON.stringify(createTraceRequest(batch, conversion)),
      protobuf: () => encodeSpans(batch),
    }),
    maxQueue,
    maxBatch,
    delayMs,
    ...more,
  });
}

function createMetricsSender(
  target: OtlpTarget,
  metrics: SpanMetrics,
  { resource, version }: ConversionOptions,
  connections: Connections,
): (signal: AbortSignal) => Promise<void> {
  const send = createSender(target, connections);
  return async (signal) => {
    const request = metrics.take(toKeyValues(resource, 1000), version);
    if (request) await send({ json: () => JSON.stringify(request), protobuf: () => encodeMetrics(request) }, signal);
  };
}

function toContext(context: SpanContext | undefined): TraceContext | undefined {
  if (!context) return undefined;
  return {
    traceparent: formatTraceparent(context),
    ...(context.tracestate === undefined ? {} : { tracestate: context.tracestate }),
  };
}

/** The address without a name, a password or a query. */
function redactAddress(target: OtlpTarget | undefined): string {
  const url = URL.parse(target?.url ?? '');
  return url ? `${url.origin}${url.pathname}` : '';
}
