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
/** The series of all metrics that have some labels in common, by the metric and the labels besides. It is looked up once for a span. */
type SeriesGroup = { readonly labels: Labels; readonly series: Map<string, Series | undefined> };
/** A group, and the texts that name it besides the kind. */
type NamedGroup = {
  readonly first: string;
  readonly second: string;
  readonly third: string;
  readonly group: SeriesGroup;
};

/** Max series and groups of series: a label from outside, such as the name of a tool, must not use up the memory. */
const maxSeries = 2000;
/** Max spans that wait to be counted. */
const maxWaiting = 1000;

/** The metrics of one process. */
export class SpanMetrics {
  readonly #conventions: Conventions;
  readonly #isDelta: boolean;
  #groups = new Map<string, SeriesGroup>();
  /** The group that was used last, by kind: the next span of the kind usually has the same labels. */
  readonly #lastGroups = new Map<string, NamedGroup>();
  #series: Series[] = [];
  #since = Date.now();
  #waiting: Span[] = [];
  readonly #hasCallMetrics: boolean;
  /** The model calls and tool calls of the runs that have not ended, by trace and session. */
  readonly #calls = new Map<string, { models: number; tools: number }>();

  constructor(conventions: Conventions, isDelta = false) {
    this.#conventions = conventions;
    this.#isDelta = isDelta;
    this.#hasCallMetrics = getMetricName('agentInferenceCalls', conventions) !== undefined;
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
      const group = this.#getGroup('execute_tool', details.tool ?? '', error ?? '', '', () => ({
        'gen_ai.tool.name': details.tool,
        'error.type': error,
      }));
      this.#record(group, 'toolDuration', seconds);
      this.#record(group, 'operationDuration', seconds, 'operationDuration', () => ({
        'gen_ai.operation.name': 'execute_tool',
      }));
      this.#countCall(span, 'tools');
    }
    if (kind === 'gate' && details.gate) {
      const { component, verdict, action } = details.gate;
      const group = this.#getGroup('gate', component, verdict, action ?? '', () => ({
        component,
        verdict,
        action,
      }));
      this.#record(group, 'gateDecisions', 1);
    }
    if (kind === 'workflow') {
      const labels = { 'gen_ai.workflow.name': span.name, 'error.type': error };
      this.#record(
        this.#getGroup('workflow', span.name, error ?? '', '', () => labels),
        'workflowDuration',
        seconds,
      );
    }
    if (kind === 'run') this.#addRun(span, seconds);
  }

  /** Counts spans that were lost. */
  addLost(count: number): void {
    if (count > 0)
      this.#record(
        this.#getGroup('', '', '', '', () => ({})),
        'lostSpans',
        count,
      );
  }

  /** Returns the metrics so far; undefined if there are none. With delta temporality counting starts again. */
  take(resource: readonly KeyValue[], version: string, now: number = Date.now()): MetricsRequest | undefined {
    this.#countWaiting();
    if (this.#series.length === 0) return undefined;
    const byKey = Map.groupBy(this.#series, ({ key }) => key);
    const metrics = [...byKey].flatMap(([key, series]) => this.#toMetric(key, series, now));
    if (this.#isDelta) [this.#series, this.#groups, this.#since] = [[], new Map(), now];
    if (this.#isDelta) this.#lastGroups.clear();
    return {
      resourceMetrics: [
        { resource: { attributes: resource }, scopeMetrics: [{ scope: { name: 'fairlead', version }, metrics }] },
      ],
    };
  }

  #addRequest(span: Span, seconds: number): void {
    const { usage, usd, provider = 'unknown', requestModel, responseModel } = span.details;
    const group = this.#getGroup('chat', provider, requestModel ?? '', responseModel ?? '', () => ({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': getProviderName(provider),
      'gen_ai.request.model': requestModel,
      'gen_ai.response.model': responseModel,
    }));
    if (span.error === undefined) {
      this.#record(group, 'operationDuration', seconds);
      this.#record(group, 'inferenceDuration', seconds);
    } else {
      const createLabels = (): Labels => ({ 'error.type': span.error });
      this.#record(group, 'operationDuration', seconds, `operationDuration ${span.error}`, createLabels);
      this.#record(group, 'inferenceDuration', seconds, `inferenceDuration ${span.error}`, createLabels);
    }
    if (usage) {
      this.#recordTokens(group, 'input', usage.input);
      this.#recordTokens(group, 'output', usage.output);
      this.#recordTotal(group, 'cacheRead', usage.cacheRead);
      this.#recordTotal(group, 'cacheWrite', usage.cacheWrite);
      this.#recordTotal(group, 'reasoningTokens', usage.reasoning);
    }
    this.#recordTotal(group, 'cost', usd);
    this.#countCall(span, 'models');
  }

  #recordTokens(group: SeriesGroup | undefined, type: 'input' | 'output', count: number | undefined): void {
    if (count === undefined) return;
    const isInput = type === 'input';
    const id = isInput ? 'tokenUsage input' : 'tokenUsage output';
    this.#record(group, 'tokenUsage', count, id, () => ({ 'gen_ai.token.type': type }));
    this.#record(group, isInput ? 'operationInputTokens' : 'operationOutputTokens', count);
    this.#recordTotal(group, isInput ? 'inputTokens' : 'outputTokens', count);
  }

  #recordTotal(group: SeriesGroup | undefined, key: MetricKey, value: number | undefined): void {
    if (value !== undefined && value > 0) this.#record(group, key, value);
  }

  #addRun(span: Span, seconds: number): void {
    const { details, error } = span;
    const group = this.#getGroup('invoke_agent', details.agent ?? '', error ?? '', '', () => ({
      'gen_ai.agent.name': details.agent,
      'error.type': error,
    }));
    this.#record(group, 'agentDuration', seconds);
    this.#record(group, 'operationDuration', seconds, 'operationDuration', () => ({
      'gen_ai.operation.name': 'invoke_agent',
    }));
    if (!this.#hasCallMetrics) return;
    const key = callsKey(span);
    const { models = 0, tools = 0 } = this.#calls.get(key) ?? {};
    this.#calls.delete(key);
    this.#record(group, 'agentInferenceCalls', models);
    this.#record(group, 'agentToolCalls', tools);
  }

  #countCall(span: Span, what: 'models' | 'tools'): void {
    if (!this.#hasCallMetrics) return;
    const key = callsKey(span);
    const calls = this.#calls.get(key) ?? { models: 0, tools: 0 };
    calls[what]++;
    if (this.#calls.size < maxSeries) this.#calls.set(key, calls);
  }

  /** The group of the labels that a kind and three texts name; undefined if there are too many. */
  #getGroup(
    kind: string,
    first: string,
    second: string,
    third: string,
    createLabels: () => Labels,
  ): SeriesGroup | undefined {
    const last = this.#lastGroups.get(kind);
    if (last && last.first === first && last.second === second && last.third === third) return last.group;
    const id = `${kind}\n${first}\n${second}\n${third}`;
    let group = this.#groups.get(id);
    if (!group && this.#groups.size < maxSeries) {
      group = { labels: createLabels(), series: new Map() };
      this.#groups.set(id, group);
    }
    if (group) this.#lastGroups.set(kind, { first, second, third, group });
    return group;
  }

  /** Records a value. `id` names the series in its group: the metric, and the labels that it has besides those of the group. */
  #record(
    group: SeriesGroup | undefined,
    key: MetricKey,
    value: number,
    id: string = key,
    createLabels?: () => Labels,
  ): void {
    if (!group || !Number.isFinite(value)) return;
    let series = group.series.get(id);
    if (!series) {
      // A metric without a name in these conventions has an entry too, so that it is looked up once.
      if (group.series.has(id)) return;
      series = this.#createSeries(key, { ...group.labels, ...createLabels?.() });
      group.series.set(id, series);
      if (!series) return;
    }
    series.count++;
    series.sum += value;
    if (value < series.min) series.min = value;
    if (value > series.max) series.max = value;
    const bounds = definitions[key].bounds ?? [];
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++;
    series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  #createSeries(key: MetricKey, labels: Labels): Series | undefined {
    if (getMetricName(key, this.#conventions) === undefined || this.#series.length >= maxSeries) return undefined;
    const buckets = Array.from({ length: (definitions[key].bounds?.length ?? 0) + 1 }, () => 0);
    const series = { key, labels, count: 0, sum: 0, min: Infinity, max: -Infinity, buckets };
    this.#series.push(series);
    return series;
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
