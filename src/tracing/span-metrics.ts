// Counts ended spans as metrics of the GenAI conventions: durations, tokens, calls, cost, gate decisions, and spans that were lost.
import { getMetricName, getProviderName, type Conventions, type MetricKey } from './conventions.ts';
import { toKeyValues, toNanos, type KeyValue, type MetricsRequest, type OtlpMetric } from './otlp/messages.ts';
import type { Span } from './span.ts';

/** The bounds of durations in seconds, and of tokens, as the conventions advise. */
const secondBounds: readonly number[] = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const tokenBounds: readonly number[] = Array.from({ length: 14 }, (_, i) => 4 ** i);
const callBounds: readonly number[] = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256];

type Definition = { readonly unit: string; readonly description: string; readonly bounds?: readonly number[] };

const definitions: Readonly<Record<MetricKey, Definition>> = {
  tokenUsage: { unit: '{token}', description: 'Tokens of one model call, by type.', bounds: tokenBounds },
  operationDuration: { unit: 's', description: 'Duration of an operation.', bounds: secondBounds },
  inferenceDuration: { unit: 's', description: 'Duration of a model call.', bounds: secondBounds },
  inputTokens: { unit: '{token}', description: 'Input tokens.' },
  outputTokens: { unit: '{token}', description: 'Output tokens.' },
  cacheRead: { unit: '{token}', description: 'Input tokens that were read from a cache.' },
  cacheWrite: { unit: '{token}', description: 'Input tokens that were written to a cache.' },
  reasoningTokens: { unit: '{token}', description: 'Output tokens of reasoning.' },
  operationInputTokens: { unit: '{token}', description: 'Input tokens of one model call.', bounds: tokenBounds },
  operationOutputTokens: { unit: '{token}', description: 'Output tokens of one model call.', bounds: tokenBounds },
  agentDuration: { unit: 's', description: 'Duration of a run.', bounds: secondBounds },
  agentInferenceCalls: { unit: '{call}', description: 'Model calls of a run.', bounds: callBounds },
  agentToolCalls: { unit: '{call}', description: 'Tool calls of a run.', bounds: callBounds },
  toolDuration: { unit: 's', description: 'Duration of a tool call.', bounds: secondBounds },
  workflowDuration: { unit: 's', description: 'Duration of a plan.', bounds: secondBounds },
  cost: { unit: '{USD}', description: 'Cost of model calls whose price is known.' },
  gateDecisions: { unit: '{decision}', description: 'Decisions of gates about tool calls, besides those that allow.' },
  lostSpans: { unit: '{span}', description: 'Spans that were not delivered.' },
};

type Labels = Readonly<Record<string, string | undefined>>;
type Series = {
  readonly key: MetricKey;
  readonly labels: Labels;
  count: number;
  sum: number;
  min: number;
  max: number;
  readonly buckets: number[];
};

/** Max series of one metric: a label from outside, such as the name of a tool, must not use up the memory. */
const maxSeries = 2000;
/** Max spans that wait to be counted. */
const maxWaiting = 1000;

/** The metrics of one process. */
export class SpanMetrics {
  readonly #conventions: Conventions;
  readonly #isDelta: boolean;
  #series = new Map<string, Series>();
  #since = Date.now();
  #waiting: Span[] = [];
  /** The model calls and tool calls of the runs that have not ended, by trace and session. */
  readonly #calls = new Map<string, { models: number; tools: number }>();

  constructor(conventions: Conventions, isDelta = false) {
    this.#conventions = conventions;
    this.#isDelta = isDelta;
  }

  /** Counts an ended span; not at once, because the run that it belongs to continues. */
  add(span: Span): void {
    this.#waiting.push(span);
    if (this.#waiting.length >= maxWaiting) this.#countWaiting();
  }

  #countWaiting(): void {
    const spans = this.#waiting;
    this.#waiting = [];
    for (const span of spans) this.#count(span);
  }

  #count(span: Span): void {
    const { kind, details, error, start, end = start } = span;
    const seconds = (end - start) / 1000;
    if (kind === 'model' || kind === 'request' || (kind === 'compaction' && details.usage))
      this.#addRequest(span, seconds);
    if (kind === 'tool') {
      const labels = { 'gen_ai.tool.name': details.tool, 'error.type': error };
      this.#record('toolDuration', seconds, labels);
      this.#record('operationDuration', seconds, { 'gen_ai.operation.name': 'execute_tool', ...labels });
      this.#countCall(span, 'tools');
    }
    if (kind === 'gate' && details.gate) {
      const { component, verdict, action } = details.gate;
      this.#record('gateDecisions', 1, { component, verdict, action });
    }
    if (kind === 'workflow')
      this.#record('workflowDuration', seconds, { 'gen_ai.workflow.name': span.name, 'error.type': error });
    if (kind === 'run') this.#addRun(span, seconds);
  }

  /** Counts spans that were lost. */
  addLost(count: number): void {
    if (count > 0) this.#record('lostSpans', count, {});
  }

  /** Returns the metrics so far; undefined if there are none. With delta temporality counting starts again. */
  take(resource: readonly KeyValue[], version: string, now: number = Date.now()): MetricsRequest | undefined {
    this.#countWaiting();
    if (this.#series.size === 0) return undefined;
    const byKey = Map.groupBy(this.#series.values(), ({ key }) => key);
    const metrics = [...byKey].flatMap(([key, series]) => this.#toMetric(key, series, now));
    if (this.#isDelta) [this.#series, this.#since] = [new Map(), now];
    return {
      resourceMetrics: [
        { resource: { attributes: resource }, scopeMetrics: [{ scope: { name: 'fairlead', version }, metrics }] },
      ],
    };
  }

  #addRequest(span: Span, seconds: number): void {
    const { usage = {}, usd, provider = 'unknown', requestModel, responseModel } = span.details;
    const labels = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': getProviderName(provider),
      'gen_ai.request.model': requestModel,
      'gen_ai.response.model': responseModel,
    };
    this.#record('operationDuration', seconds, { ...labels, 'error.type': span.error });
    this.#record('inferenceDuration', seconds, { ...labels, 'error.type': span.error });
    const { input, output, cacheRead, cacheWrite, reasoning } = usage;
    if (input !== undefined) {
      this.#record('tokenUsage', input, { ...labels, 'gen_ai.token.type': 'input' });
      this.#record('operationInputTokens', input, labels);
    }
    if (output !== undefined) {
      this.#record('tokenUsage', output, { ...labels, 'gen_ai.token.type': 'output' });
      this.#record('operationOutputTokens', output, labels);
    }
    const totals = {
      inputTokens: input,
      outputTokens: output,
      cacheRead,
      cacheWrite,
      reasoningTokens: reasoning,
      cost: usd,
    };
    for (const [key, value] of Object.entries(totals) as [MetricKey, number | undefined][])
      if (value !== undefined && value > 0) this.#record(key, value, labels);
    this.#countCall(span, 'models');
  }

  #addRun(span: Span, seconds: number): void {
    const labels = { 'gen_ai.agent.name': span.details.agent, 'error.type': span.error };
    this.#record('agentDuration', seconds, labels);
    this.#record('operationDuration', seconds, { 'gen_ai.operation.name': 'invoke_agent', ...labels });
    const { models = 0, tools = 0 } = this.#calls.get(callsKey(span)) ?? {};
    this.#calls.delete(callsKey(span));
    this.#record('agentInferenceCalls', models, labels);
    this.#record('agentToolCalls', tools, labels);
  }

  #countCall(span: Span, what: 'models' | 'tools'): void {
    const calls = this.#calls.get(callsKey(span)) ?? { models: 0, tools: 0 };
    calls[what]++;
    if (this.#calls.size < maxSeries) this.#calls.set(callsKey(span), calls);
  }

  #record(key: MetricKey, value: number, labels: Labels): void {
    if (getMetricName(key, this.#conventions) === undefined || !Number.isFinite(value)) return;
    const id = JSON.stringify([key, labels]);
    let series = this.#series.get(id);
    if (!series) {
      if (this.#series.size >= maxSeries) return;
      const buckets = Array.from({ length: (definitions[key].bounds?.length ?? 0) + 1 }, () => 0);
      series = { key, labels, count: 0, sum: 0, min: value, max: value, buckets };
      this.#series.set(id, series);
    }
    series.count++;
    series.sum += value;
    series.min = Math.min(series.min, value);
    series.max = Math.max(series.max, value);
    const at = definitions[key].bounds?.findIndex((bound) => value <= bound) ?? 0;
    const bucket = at < 0 ? series.buckets.length - 1 : at;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  #toMetric(key: MetricKey, series: readonly Series[], now: number): readonly OtlpMetric[] {
    const name = getMetricName(key, this.#conventions);
    const { unit, description, bounds } = definitions[key];
    if (name === undefined) return [];
    const times = { startTimeUnixNano: toNanos(this.#since), timeUnixNano: toNanos(now) };
    const aggregationTemporality = this.#isDelta ? 1 : 2;
    if (!bounds) {
      const dataPoints = series.map(({ labels, sum }) => ({
        attributes: toKeyValues(labels, 1000),
        ...times,
        asDouble: sum,
      }));
      return [{ name, description, unit, sum: { dataPoints, aggregationTemporality, isMonotonic: true } }];
    }
    const dataPoints = series.map(({ labels, count, sum, min, max, buckets }) => ({
      attributes: toKeyValues(labels, 1000),
      ...times,
      count: String(count),
      sum,
      bucketCounts: buckets.map(String),
      explicitBounds: bounds,
      min,
      max,
    }));
    return [{ name, description, unit, histogram: { dataPoints, aggregationTemporality } }];
  }
}

const callsKey = ({ traceId, session }: Span): string => `${traceId} ${session}`;
