// Reads the standard variables of OpenTelemetry: where traces and metrics are sent, how, and how many wait.
import { parseConventions, type Conventions } from './conventions.ts';
import { isTracingConfigured } from './is-configured.ts';

/** The encoding of a request. */
export type OtlpProtocol = 'http/json' | 'http/protobuf';

/** Where one signal is sent, and how. */
export type OtlpTarget = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly protocol: OtlpProtocol;
  readonly compression: 'gzip' | 'none';
  /** The time of one request. */
  readonly timeoutMs: number;
  /** The file with the certificates of the receiver's authority. */
  readonly certificateFile?: string;
};

/** How spans are sent and what they contain. */
export type TracingOptions = {
  /** Where spans are sent; absent if they are not. */
  readonly traces?: OtlpTarget;
  /** Where metrics are sent; absent if they are not. */
  readonly metrics?: OtlpTarget;
  /** Spans that wait; more are lost, and counted. */
  readonly maxQueue: number;
  /** Max spans of one request. */
  readonly maxBatch: number;
  /** How long spans wait for more before they are sent. */
  readonly delayMs: number;
  /** The interval of the metrics. */
  readonly metricsIntervalMs: number;
  readonly conventions: Conventions;
  /** Whether prompts, answers, arguments and results are sent; they are redacted. */
  readonly content: boolean;
  readonly maxAttributeChars: number;
  readonly resource: Readonly<Record<string, string>>;
  /** Whether requests to models and MCP servers carry the trace context. */
  readonly propagates: boolean;
  /** The share of the runs that are recorded, if no caller decided; and whether a caller decides. */
  readonly sampling: { readonly share: number; readonly isParentBased: boolean };
  /** Counters and histograms contain what was added since the last export, instead of everything. */
  readonly isDelta: boolean;
  /** What of the variables is not used, one sentence each. */
  readonly problems: readonly string[];
};

type Env = Readonly<Record<string, string | undefined>>;

/** Reads the options from variables; undefined if they ask for none, or switch everything off. Without a valid address there are only problems. */
export function readTracingOptions(env: Env): TracingOptions | undefined {
  if (!isTracingConfigured(env)) return undefined;
  const problems: string[] = [];
  const traces = readTarget(env, 'TRACES', problems);
  const metrics = readTarget(env, 'METRICS', problems);
  if (!traces && !metrics && problems.length === 0) return undefined;
  const maxQueue = readNumber(env, 'OTEL_BSP_MAX_QUEUE_SIZE', 2048, problems, 1);
  return {
    ...(traces ? { traces } : {}),
    ...(metrics ? { metrics } : {}),
    maxQueue,
    maxBatch: Math.min(maxQueue, readNumber(env, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, problems, 1)),
    delayMs: readNumber(env, 'OTEL_BSP_SCHEDULE_DELAY', 5000, problems),
    metricsIntervalMs: readNumber(env, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000, problems, 100),
    conventions: parseConventions(env['OTEL_SEMCONV_STABILITY_OPT_IN']),
    content: /^(true|span_only|span_and_event)$/i.test(env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT'] ?? ''),
    maxAttributeChars: readNumber(env, 'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT', defaultAttributeChars, problems, 1),
    resource: readResource(env),
    propagates: (env['OTEL_PROPAGATORS'] || 'tracecontext').split(',').some((name) => name.trim() === 'tracecontext'),
    sampling: readSampling(env, problems),
    isDelta: env['OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE']?.toLowerCase() === 'delta',
    // Traces and metrics share most variables, and so most problems.
    problems: [...new Set(problems)],
  };
}

/** The max characters of one attribute. */
const defaultAttributeChars = 32_768;

/** The receiver on this machine that the specification names. */
const defaultEndpoint = 'http://localhost:4318';

function readTarget(env: Env, signal: 'TRACES' | 'METRICS', problems: string[]): OtlpTarget | undefined {
  const exporter = (env[`OTEL_${signal}_EXPORTER`] ?? 'otlp').trim() || 'otlp';
  if (exporter === 'none') return undefined;
  if (exporter !== 'otlp') {
    problems.push(`OTEL_${signal}_EXPORTER=${exporter} is not supported, so nothing is sent; use otlp or none.`);
    return undefined;
  }
  const read = (name: string): string | undefined =>
    env[`OTEL_EXPORTER_OTLP_${signal}_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
  const own = env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || defaultEndpoint;
  // An endpoint of metrics alone asks for no traces, and the other way round.
  const other = env[`OTEL_EXPORTER_OTLP_${signal === 'TRACES' ? 'METRICS' : 'TRACES'}_ENDPOINT`];
  if (!own && !env['OTEL_EXPORTER_OTLP_ENDPOINT'] && (other || env[`OTEL_${signal}_EXPORTER`] !== 'otlp'))
    return undefined;
  const url = own || `${base.replace(/\/$/, '')}/v1/${signal.toLowerCase()}`;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    problems.push(
      `The address for ${signal.toLowerCase()} is not a URL such as ${defaultEndpoint}, so they are not sent.`,
    );
    return undefined;
  }
  const certificateFile = read('CERTIFICATE');
  return {
    url,
    headers: parseHeaders(read('HEADERS'), problems),
    protocol: readProtocol(read('PROTOCOL'), problems),
    compression: read('COMPRESSION') === 'gzip' ? 'gzip' : 'none',
    timeoutMs: parseNumber(read('TIMEOUT'), 'OTEL_EXPORTER_OTLP_TIMEOUT', 10_000, problems, 1),
    ...(certificateFile === undefined ? {} : { certificateFile }),
  };
}

function readProtocol(value: string | undefined, problems: string[]): OtlpProtocol {
  if (value === 'http/json') return value;
  if (value !== undefined && value !== 'http/protobuf')
    problems.push(
      `The protocol ${value} is not supported: http/protobuf is used. The port of it is 4318 in most receivers.`,
    );
  return 'http/protobuf';
}

/** Headers as in W3C baggage: `name=value,other=value`, values in URL encoding. */
function parseHeaders(text: string | undefined, problems: string[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const pair of (text ?? '').split(',')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim().toLowerCase();
    if (pair.trim() === '') continue;
    const value = decodeText(pair.slice(at + 1).trim());
    if (/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) && /^[\t -~\u0080-\u00FF]*$/.test(value)) headers[name] = value;
    else problems.push('A header in OTEL_EXPORTER_OTLP_HEADERS is not of the form name=value, and is not sent.');
  }
  return headers;
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function readResource(env: Env): Readonly<Record<string, string>> {
  const pairs = (env['OTEL_RESOURCE_ATTRIBUTES'] ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at <= 0 ? [] : [[pair.slice(0, at).trim(), decodeText(pair.slice(at + 1).trim())] as const];
  });
  const attributes = Object.fromEntries(pairs);
  const service = env['OTEL_SERVICE_NAME'] || attributes['service.name'] || 'fairlead';
  return { ...attributes, 'service.name': service };
}

function readSampling(env: Env, problems: string[]): TracingOptions['sampling'] {
  const sampler = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const isParentBased = sampler.startsWith('parentbased_');
  const name = sampler.replace(/^parentbased_/, '');
  if (name === 'always_off') return { share: 0, isParentBased };
  if (name === 'traceidratio') {
    const share = Number(env['OTEL_TRACES_SAMPLER_ARG'] || 1);
    if (share >= 0 && share <= 1) return { share, isParentBased };
    problems.push('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1; 1 is used.');
    return { share: 1, isParentBased };
  }
  if (name !== 'always_on') problems.push(`OTEL_TRACES_SAMPLER=${sampler} is not known: every run is recorded.`);
  return { share: 1, isParentBased: isParentBased || name !== 'always_on' };
}

const readNumber = (env: Env, name: string, fallback: number, problems: string[], min = 0): number =>
  parseNumber(env[name], name, fallback, problems, min);

function parseNumber(
  text: string | undefined,
  name: string,
  fallback: number,
  problems: string[],
  min: number,
): number {
  if (text === undefined || text.trim() === '') return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= 2 ** 31 - 1) return value;
  problems.push(`${name} must be a whole number of at least ${min}; ${fallback} is used.`);
  return fallback;
}
