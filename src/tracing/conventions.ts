// The names of the GenAI semantic conventions of OpenTelemetry in one table, for the conventions of version 1.41 and for those after it.

/** Which names are used: those of version 1.41, which most backends read, or those after it. */
export type Conventions = 'v1.41' | 'latest';

/** The name of a value, or its names in version 1.41 and after it; null where the conventions have none. */
type Names = string | readonly [v141: string | null, latest: string | null];

/** The names of the attributes of spans. */
const attributeNames = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  // Spans of agents had it until version 1.41.
  agentProvider: ['gen_ai.provider.name', null],
  conversation: 'gen_ai.conversation.id',
  compacted: [null, 'gen_ai.conversation.compacted'],
  session: 'session.id',
  agentName: 'gen_ai.agent.name',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: ['gen_ai.usage.cache_creation.input_tokens', 'gen_ai.usage.cache_write.input_tokens'],
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  // No part of the conventions; Langfuse reads it.
  cost: 'gen_ai.usage.cost',
  toolName: 'gen_ai.tool.name',
  toolCall: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  mcpMethod: 'mcp.method.name',
  workflow: 'gen_ai.workflow.name',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  errorType: 'error.type',
  system: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  // The proposal for spans of guardrails.
  guardrailTarget: 'gen_ai.guardrail.target.type',
  guardrailVerdict: 'gen_ai.guardrail.verdict.type',
  guardrailAction: 'gen_ai.guardrail.action.type',
  guardrailComponent: 'gen_ai.guardrail.component.name',
  guardrailPolicy: 'gen_ai.guardrail.security.policy.id',
  evaluationName: 'gen_ai.evaluation.name',
  evaluationValue: 'gen_ai.evaluation.score.value',
  evaluationLabel: 'gen_ai.evaluation.score.label',
  evaluationExplanation: 'gen_ai.evaluation.explanation',
  // Langfuse derives the type of an observation from the operation, and knows none for gates and checks.
  langfuseType: 'langfuse.observation.type',
  run: 'fairlead.run.id',
  turn: 'fairlead.turn',
  stopReason: 'fairlead.stop_reason',
  outcome: 'fairlead.tool.outcome',
  mcpServer: 'fairlead.mcp.server',
  estimated: 'fairlead.usage.estimated',
  step: 'fairlead.plan.step',
  stepStatus: 'fairlead.plan.step.status',
  answeredBy: 'fairlead.guardrail.answered_by',
  unconfirmed: 'fairlead.check.unconfirmed_claims',
  explanation: 'fairlead.explanation',
  subagent: 'fairlead.subagent',
} as const;

/** The key of an attribute in the table. */
export type AttributeKey = keyof typeof attributeNames;

/** The names of the fields in the parts of messages. */
const partNames = { toolResponse: ['result', 'response'] } as const;

/** The key of a field of a part in the table. */
export type PartKey = keyof typeof partNames;

/** The names of the metrics. A metric without a name in a version is not sent. */
const metricNames = {
  tokenUsage: ['gen_ai.client.token.usage', null],
  operationDuration: ['gen_ai.client.operation.duration', null],
  inferenceDuration: [null, 'gen_ai.client.inference.duration'],
  inputTokens: [null, 'gen_ai.client.inference.usage.input_tokens'],
  outputTokens: [null, 'gen_ai.client.inference.usage.output_tokens'],
  cacheRead: [null, 'gen_ai.client.inference.usage.cache_read.input_tokens'],
  cacheWrite: [null, 'gen_ai.client.inference.usage.cache_write.input_tokens'],
  reasoningTokens: [null, 'gen_ai.client.inference.usage.reasoning.output_tokens'],
  operationInputTokens: [null, 'gen_ai.client.inference.operation.input_tokens'],
  operationOutputTokens: [null, 'gen_ai.client.inference.operation.output_tokens'],
  agentDuration: [null, 'gen_ai.invoke_agent.duration'],
  agentInferenceCalls: [null, 'gen_ai.invoke_agent.inference_calls'],
  agentToolCalls: [null, 'gen_ai.invoke_agent.tool_calls'],
  toolDuration: [null, 'gen_ai.execute_tool.duration'],
  workflowDuration: [null, 'gen_ai.invoke_workflow.duration'],
  cost: 'fairlead.cost',
  gateDecisions: 'fairlead.gate.decisions',
  lostSpans: 'fairlead.tracing.lost_spans',
} as const;

/** The key of a metric in the table. */
export type MetricKey = keyof typeof metricNames;

const pick = (names: Names, conventions: Conventions): string | undefined =>
  typeof names === 'string' ? names : (names[conventions === 'latest' ? 1 : 0] ?? undefined);

/** The name of an attribute; undefined if the conventions have none. */
export const getAttributeName = (key: AttributeKey, conventions: Conventions): string | undefined =>
  pick(attributeNames[key], conventions);

/** The name of a field in the part of a message. */
export const getPartName = (key: PartKey, conventions: Conventions): string =>
  partNames[key][conventions === 'latest' ? 1 : 0];

/** The name of a metric; undefined if the conventions have none. */
export const getMetricName = (key: MetricKey, conventions: Conventions): string | undefined =>
  pick(metricNames[key], conventions);

/** Returns the conventions that `OTEL_SEMCONV_STABILITY_OPT_IN` chooses, a list of names separated by commas. */
export const parseConventions = (optIn: string | undefined): Conventions =>
  (optIn ?? '').split(',').some((name) => name.trim() === 'gen_ai_latest_experimental') ? 'latest' : 'v1.41';

/** The provider names that the conventions define, by our families. A family without one keeps its own name. */
const providerNames: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  xai: 'x_ai',
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
};

/** The provider name of the conventions for one of our families. */
export const getProviderName = (family: string): string => providerNames[family] ?? family;
