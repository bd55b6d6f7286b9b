// The attributes of a span by their key in the conventions, for every encoding.
import { isObject, type Json } from '../core/index.ts';
import { getPartName, getProviderName, type AttributeKey, type Conventions } from './conventions.ts';
import type { Span, SpanDetails, SpanEvent, SpanKind } from './span.ts';

/** Receives attributes one by one; an undefined value is no attribute. */
export interface AttributeSink {
  /** Adds an attribute. */
  add(key: AttributeKey, value: Json | undefined): void;
}

/** How texts are written. */
type TextOptions = { readonly conventions: Conventions; readonly redact: (text: string) => string };

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

/** The name of a span as the conventions say: the operation and its target. */
export function getSpanName({ kind, name, details }: Pick<Span, 'kind' | 'name' | 'details'>): string {
  if (kind === 'request') return `chat ${details.requestModel ?? name}`;
  if (kind === 'compaction') return 'compaction';
  if (kind === 'check') return `check ${name}`;
  if (kind === 'step') return `plan step ${name}`;
  const operation = operations[kind];
  return operation === undefined ? name : `${operation} ${name}`.trim();
}

/** Adds the attributes that spans of one kind, session and agent have in common to a sink. */
export function addSharedAttributes({ kind, session, details }: Span, sink: AttributeSink): void {
  // A compaction without a model is no request.
  sink.add('operation', kind === 'compaction' && !details.usage ? undefined : operations[kind]);
  sink.add('conversation', session);
  sink.add('session', session);
  sink.add('agentName', details.agent);
}

/** Adds the other attributes of a span to a sink. */
export function addOwnAttributes(span: Span, options: TextOptions, sink: AttributeSink): void {
  const { kind, name, error, details } = span;
  sink.add('errorType', error);
  sink.add('turn', details.turn);
  if (kind === 'run') addRun(details, sink);
  if (kind === 'model' || kind === 'request' || kind === 'compaction') addModelCall(details, sink);
  if (kind === 'workflow') sink.add('workflow', name);
  if (kind === 'step') {
    sink.add('step', name);
    sink.add('stepStatus', details.step?.status);
  }
  if (kind === 'tool' || kind === 'gate') {
    sink.add('toolName', details.tool);
    sink.add('toolCall', details.call);
  }
  if (kind === 'tool') addTool(details, sink);
  if (details.gate) addGate(details.gate, sink);
  if (details.check) {
    sink.add('unconfirmed', details.check.unconfirmed);
    sink.add('langfuseType', 'evaluator');
  }
  if (span.content) addContent(span.content, kind, options, sink);
}

/** Adds the attributes of the result of a check to a sink. */
export function addEvaluationAttributes(
  { name, value, label }: SpanEvent['attributes'],
  { content }: Span,
  { redact }: TextOptions,
  sink: AttributeSink,
): void {
  sink.add('evaluationName', name);
  sink.add('evaluationValue', value);
  sink.add('evaluationLabel', label);
  if (content?.explanation !== undefined) sink.add('evaluationExplanation', redact(content.explanation));
}

function addRun({ run, stopReason, isSubagent, requestModel, provider }: SpanDetails, sink: AttributeSink): void {
  sink.add('run', run);
  sink.add('stopReason', stopReason);
  sink.add('subagent', isSubagent);
  sink.add('requestModel', requestModel);
  if (provider !== undefined) sink.add('agentProvider', getProviderName(provider));
}

function addModelCall(details: SpanDetails, sink: AttributeSink): void {
  const { finishReason, host, usage } = details;
  sink.add('provider', getProviderName(details.provider ?? 'unknown'));
  sink.add('requestModel', details.requestModel);
  sink.add('responseModel', details.responseModel);
  if (finishReason !== undefined) sink.add('finishReasons', [finishReason]);
  sink.add('compacted', details.isCompacted);
  if (host !== undefined) {
    const [address, port] = splitHost(host);
    sink.add('serverAddress', address);
    sink.add('serverPort', port);
  }
  if (usage) {
    sink.add('inputTokens', usage.input);
    sink.add('outputTokens', usage.output);
    sink.add('cacheRead', usage.cacheRead);
    sink.add('cacheWrite', usage.cacheWrite);
    sink.add('reasoningTokens', usage.reasoning);
  }
  sink.add('cost', details.usd);
  sink.add('estimated', details.isEstimated);
}

/** The host that was split last; most spans have the same one. */
let lastHost: { readonly host: string; readonly parts: readonly [string, number | undefined] } | undefined;

function splitHost(host: string): readonly [string, number | undefined] {
  if (lastHost?.host !== host) lastHost = { host, parts: parseHost(host) };
  return lastHost.parts;
}

function parseHost(host: string): readonly [string, number | undefined] {
  const url = URL.parse(`http://${host}`);
  if (!url) return [host, undefined];
  return [url.hostname.replace(/^\[(.*)\]$/, '$1'), url.port === '' ? undefined : Number(url.port)];
}

function addTool({ mcpServer, outcome }: SpanDetails, sink: AttributeSink): void {
  sink.add('toolType', mcpServer === undefined ? 'function' : 'extension');
  sink.add('outcome', outcome);
  if (mcpServer === undefined) return;
  sink.add('mcpServer', mcpServer);
  sink.add('mcpMethod', 'tools/call');
}

function addGate(gate: NonNullable<SpanDetails['gate']>, sink: AttributeSink): void {
  sink.add('guardrailTarget', 'tool_call');
  sink.add('guardrailVerdict', gate.verdict);
  sink.add('guardrailAction', gate.action);
  sink.add('guardrailComponent', gate.component);
  sink.add('guardrailPolicy', gate.name);
  sink.add('answeredBy', gate.by);
  sink.add('langfuseType', 'guardrail');
}

function addContent(
  content: NonNullable<Span['content']>,
  kind: SpanKind,
  { conventions, redact }: TextOptions,
  sink: AttributeSink,
): void {
  const { system } = content;
  const add = (key: AttributeKey, value: Json | undefined): void => {
    if (value !== undefined) sink.add(key, redact(typeof value === 'string' ? value : JSON.stringify(value)));
  };
  add('system', system === undefined ? undefined : [{ type: 'text', content: system }]);
  add('inputMessages', renameToolResponses(content.input, conventions));
  add('outputMessages', content.output);
  add('toolArguments', content.arguments);
  add('toolResult', content.result);
  if (kind !== 'check') add('explanation', content.explanation);
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
