// A chat request around its messages: settings and tools before them, what may change from turn to turn behind them.
import type { ModelRequest, ModelSettings, ToolChoice, ToolSpec } from '../../core/index.ts';
import { createChatMessageEncoder } from './messages.ts';
import type { ChatCompat } from './compat.ts';
import { createBodyEncoder, withSchemaInstruction, type EncodedBody } from '../http/request-body.ts';
import { isStrictSchema, toObjectSchema } from '../http/schema.ts';

type WireObject = { readonly [key: string]: unknown };

/** Makes bodies for one model of a family. */
export function createChatBodyEncoder(
  family: string,
  model: string,
  quirks: ChatCompat,
): (request: ModelRequest) => EncodedBody {
  return createBodyEncoder({
    encode: createChatMessageEncoder(family, quirks),
    imageSupport: quirks.images,
    head: (request) => encodeRequestHead(request, model, quirks),
    tail: (request) => encodeRequestTail(request, quirks),
  });
}

function encodeRequestHead(request: ModelRequest, model: string, quirks: ChatCompat): string {
  const { settings, tools, session } = request;
  const fields = JSON.stringify({
    model,
    stream: true,
    ...(quirks.includeUsage ? { stream_options: { include_usage: true } } : {}),
    ...(quirks.promptCache === 'prompt_cache_key' && session ? { prompt_cache_key: session.slice(0, 64) } : {}),
    ...(quirks.promptCache === 'cache_control' ? { cache_control: { type: 'ephemeral' } } : {}),
    ...settingFields(settings, model, quirks),
    ...responseFormatFields(request, quirks),
    ...(tools.length > 0 ? { tools: tools.map(toolDefinition) } : {}),
  });
  const system = schemaMode(request, quirks) === 'json_schema' ? request.system : withSchemaInstruction(request);
  const opening = system === '' ? '' : JSON.stringify({ role: quirks.systemRole, content: system });
  return `${fields.slice(0, -1)},"messages":[${opening}`;
}

/** A tool as chat servers, and Ollama like them, want it. */
export const toolDefinition = ({ name, description, input }: ToolSpec): WireObject => ({
  type: 'function',
  function: { name, description, parameters: toObjectSchema(input) },
});

function settingFields(settings: ModelSettings, model: string, quirks: ChatCompat): WireObject {
  const { maxOutputTokens, temperature, topP, seed, stop, reasoning } = settings;
  return {
    ...(maxOutputTokens === undefined ? {} : { [quirks.maxTokens]: maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(seed === undefined ? {} : { [quirks.seed]: seed }),
    ...(stop === undefined || stop.length === 0 ? {} : { stop }),
    ...(reasoning === undefined ? {} : effortFields(reasoning, model, quirks)),
  };
}

function effortFields(
  effort: NonNullable<ModelSettings['reasoning']>,
  model: string,
  { effortField: how }: ChatCompat,
): WireObject {
  if (how === 'none') return {};
  if (how === 'reasoning') return { reasoning: effort === 'none' ? { enabled: false } : { effort } };
  if (how === 'thinking') return { thinking: { type: effort === 'none' ? 'disabled' : 'enabled' } };
  if (effort !== 'none') return { reasoning_effort: effort };
  // Models that cannot think refuse the word, and the first ones that can do not know it.
  if (/^(gpt-4|gpt-3|chatgpt|o1|o3|o4)/.test(model)) return {};
  return { reasoning_effort: /^gpt-5(-(mini|nano|chat|\d{4}).*)?$/.test(model) ? 'minimal' : 'none' };
}

const schemaMode = ({ tools }: ModelRequest, quirks: ChatCompat): ChatCompat['schema'] =>
  tools.length > 0 && !quirks.schemaWithTools ? 'none' : quirks.schema;

function responseFormatFields(request: ModelRequest, quirks: ChatCompat): WireObject {
  const { outputSchema } = request;
  const mode = schemaMode(request, quirks);
  if (!outputSchema || mode === 'none') return {};
  if (mode === 'json_object') return { response_format: { type: 'json_object' } };
  const json_schema = {
    name: 'answer',
    schema: outputSchema,
    ...(isStrictSchema(outputSchema) ? { strict: true } : {}),
  };
  return { response_format: { type: 'json_schema', json_schema } };
}

/** The choice of a tool may change from one turn to the next, so it stands behind the messages. */
function encodeRequestTail({ toolChoice, tools }: ModelRequest, quirks: ChatCompat): string {
  return toolChoice === 'auto' || tools.length === 0
    ? ']}'
    : `],"tool_choice":${JSON.stringify(toolChoiceField(toolChoice, quirks))}}`;
}

function toolChoiceField(choice: Exclude<ToolChoice, 'auto'>, quirks: ChatCompat): unknown {
  if (choice === 'none') return 'none';
  return choice === 'required' ? quirks.requiredChoice : { type: 'function', function: { name: choice.tool } };
}
