// Converts spans to the OpenTelemetry protocol with the names of the GenAI conventions. Texts are included only if they were captured, and redacted.
import { isObject, type Json, type Usage } from '../core/index.ts';
import {
  getAttributeName,
  getPartName,
  getProviderName,
  type AttributeKey,
  type AttributeValues,
  type Conventions,
} from './conventions.ts';
import { toKeyValues, toNanos, type KeyValue, type OtlpSpan, type TraceRequest } from './otlp/messages.ts';
import type { Span, SpanDetails, SpanEvent, SpanKind } from './span.ts';

/** How spans are converted. */
export type ConversionOptions = {
  readonly conventions: Conventions;
  /** Whether texts are exported. */
  readonly content: boolean;
  /** Removes secrets from texts before they are cut to `maxAttributeChars`. */
  readonly redact: (text: string) => string;
  readonly maxAttributeChars: number;
  /** Attributes of the resource, such as `service.name`. */
  readonly resource: Readonly<Record<string, Json>>;
  /** The version of this package. */
  readonly version: string;
};

const scopeName = 'fairlead';

/** The operation of the conventions that a kind of span is; `run_guardrail` is a proposal. */
const operations: Partial<Readonly<Record<SpanKind, string>>> = {
  workflow: 'invoke_workflow',
  run: 'invoke_agent',
  model: 'chat',
  request: 'chat',
  compaction: 'chat',
  tool: 'execute_tool',
  gate: 'run_guardrail',
};

const [internalKind, clientKind] = [1, 3];
const errorStatus = 2;
/** Flags of a span: sampled, and whether it is known that the parent is in another process. */
const [sampledFlag, hasIsRemoteFlag, isRemoteFlag] = [1, 0x100, 0x200];

/** Returns the request that exports these spans. */
export const createTraceRequest = (spans: readonly Span[], options: ConversionOptions): TraceRequest => ({
  resourceSpans: [
    {
      resource: { attributes: toKeyValues(options.resource, options.maxAttributeChars) },
      scopeSpans: [
        {
          scope: { name: scopeName, version: options.version },
          spans: spans.map((span) => toOtlpSpan(span, options)),
        },
      ],
    },
  ],
});

/** Converts one span. One that has not ended gets its start as its end. */
export function toOtlpSpan(span: Span, options: ConversionOptions): OtlpSpan {
  const { traceId, spanId, parentId, tracestate, kind, start, end = start, error, events } = span;
  const flags = sampledFlag | hasIsRemoteFlag | (span.hasRemoteParent ? isRemoteFlag : 0);
  return {
    traceId,
    spanId,
    ...(tracestate === undefined ? {} : { traceState: tracestate }),
    ...(parentId === undefined ? {} : { parentSpanId: parentId }),
    flags,
    name: getSpanName(span),
    kind: kind === 'model' || kind === 'request' ? clientKind : internalKind,
    startTimeUnixNano: toNanos(start),
    endTimeUnixNano: toNanos(end),
    attributes: toAttributes({ ...getAttributes(span), ...getContentAttributes(span, options) }, options),
    ...(events ? { events: events.map((event) => toOtlpEvent(event, span, options)) } : {}),
    status: error === undefined ? {} : { message: getStatusMessage(span, options), code: errorStatus },
  };
}

/** The type of an error; its text may quote what a tool returned, so it counts as content. */
const getStatusMessage = (
  { error = '', errorMessage }: Span,
  { content, redact, maxAttributeChars }: ConversionOptions,
): string =>
  content && errorMessage !== undefined
    ? `${error}: ${redact(errorMessage)}`.slice(0, maxAttributeChars).toWellFormed()
    : error;

/** The name of a span as the conventions say: the operation and its target. */
export function getSpanName({ kind, name, details }: Pick<Span, 'kind' | 'name' | 'details'>): string {
  if (kind === 'request') return `chat ${details.requestModel ?? name}`;
  if (kind === 'compaction') return 'compaction';
  if (kind === 'check') return `check ${name}`;
  if (kind === 'step') return `plan step ${name}`;
  const operation = operations[kind];
  return operation === undefined ? name : `${operation} ${name}`.trim();
}

function getAttributes({ kind, name, session, error, details }: Span): AttributeValues {
  const { agent, gate, check, step, call, tool, mcpServer, turn } = details;
  return {
    // A compaction without a model is no request.
    operation: kind === 'compaction' && !details.usage ? undefined : operations[kind],
    conversation: session,
    session,
    agentName: agent,
    errorType: error,
    turn,
    ...(kind === 'run'
      ? {
          run: details.run,
          stopReason: details.stopReason,
          subagent: details.isSubagent,
          requestModel: details.requestModel,
          agentProvider: details.provider === undefined ? undefined : getProviderName(details.provider),
        }
      : {}),
    ...(kind === 'model' || kind === 'request' || kind === 'compaction' ? getModelAttributes(details) : {}),
    ...(kind === 'workflow' ? { workflow: name } : {}),
    ...(kind === 'step' ? { step: name, stepStatus: step?.status } : {}),
    ...(kind === 'tool' || kind === 'gate' ? { toolName: tool, toolCall: call } : {}),
    ...(kind === 'tool'
      ? {
          toolType: mcpServer === undefined ? 'function' : 'extension',
          outcome: details.outcome,
          mcpServer,
          mcpMethod: mcpServer === undefined ? undefined : 'tools/call',
        }
      : {}),
    ...(gate
      ? {
          guardrailTarget: 'tool_call',
          guardrailVerdict: gate.verdict,
          guardrailAction: gate.action,
          guardrailComponent: gate.component,
          guardrailPolicy: gate.name,
          answeredBy: gate.by,
          langfuseType: 'guardrail',
        }
      : {}),
    ...(check ? { unconfirmed: check.unconfirmed, langfuseType: 'evaluator' } : {}),
  };
}

function getModelAttributes({ usage = {}, usd, host, ...details }: SpanDetails): AttributeValues {
  const [address, port] = splitHost(host);
  return {
    provider: getProviderName(details.provider ?? 'unknown'),
    requestModel: details.requestModel,
    responseModel: details.responseModel,
    finishReasons: details.finishReason === undefined ? undefined : [details.finishReason],
    compacted: details.isCompacted,
    serverAddress: address,
    serverPort: port,
    ...getUsageAttributes(usage),
    cost: usd,
    estimated: details.isEstimated,
  };
}

const getUsageAttributes = ({ input, output, cacheRead, cacheWrite, reasoning }: Usage): AttributeValues => ({
  inputTokens: input,
  outputTokens: output,
  cacheRead,
  cacheWrite,
  reasoningTokens: reasoning,
});

function splitHost(host: string | undefined): readonly [string | undefined, number | undefined] {
  const url = host === undefined ? null : URL.parse(`http://${host}`);
  if (!url) return [host, undefined];
  return [url.hostname.replace(/^\[(.*)\]$/, '$1'), url.port === '' ? undefined : Number(url.port)];
}

function getContentAttributes({ content, kind }: Span, { redact, conventions }: ConversionOptions): AttributeValues {
  if (!content) return {};
  const text = (value: Json | undefined): string | undefined =>
    value === undefined ? undefined : redact(typeof value === 'string' ? value : JSON.stringify(value));
  const { system } = content;
  return {
    system: text(system === undefined ? undefined : [{ type: 'text', content: system }]),
    inputMessages: text(renameToolResponses(content.input, conventions)),
    outputMessages: text(content.output),
    toolArguments: text(content.arguments),
    toolResult: text(content.result),
    explanation: kind === 'check' ? undefined : text(content.explanation),
  };
}

/** Gives the results of tools in messages the name that the conventions have for them. */
function renameToolResponses(messages: Json | undefined, conventions: Conventions): Json | undefined {
  if (Array.isArray(messages)) return messages.map((each: Json) => renameToolResponses(each, conventions) ?? null);
  if (!isObject(messages)) return messages;
  const { parts, response, ...rest } = messages;
  if (parts !== undefined) return { ...messages, parts: renameToolResponses(parts, conventions) ?? null };
  return rest['type'] === 'tool_call_response' && response !== undefined
    ? { ...rest, [getPartName('toolResponse', conventions)]: response }
    : messages;
}

function toOtlpEvent(
  event: SpanEvent,
  { content }: Span,
  options: ConversionOptions,
): NonNullable<OtlpSpan['events']>[number] {
  const timeUnixNano = toNanos(event.time);
  if (event.name !== 'evaluation') {
    const named = Object.entries(event.attributes).map(
      ([key, value]) => [`fairlead.${event.name}.${key}`, value] as const,
    );
    const attributes = toKeyValues(Object.fromEntries(named), options.maxAttributeChars);
    return { timeUnixNano, name: `fairlead.${event.name}`, attributes };
  }
  const { name, value, label } = event.attributes;
  const explanation = content?.explanation === undefined ? undefined : options.redact(content.explanation);
  const values = {
    evaluationName: name,
    evaluationValue: value,
    evaluationLabel: label,
    evaluationExplanation: explanation,
  };
  return { timeUnixNano, name: 'gen_ai.evaluation.result', attributes: toAttributes(values, options) };
}

function toAttributes(
  values: AttributeValues,
  { conventions, maxAttributeChars }: ConversionOptions,
): readonly KeyValue[] {
  const named = (Object.entries(values) as [AttributeKey, Json | undefined][]).flatMap(([key, value]) => {
    const name = getAttributeName(key, conventions);
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return toKeyValues(Object.fromEntries(named), maxAttributeChars);
}
