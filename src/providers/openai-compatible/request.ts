// Encodes chat completion requests: settings and tools before the messages, fields that change between turns after them.
import type { ModelRequest, ModelSettings, ToolChoice, ToolSpec } from '../../core/index.ts';
import { createChatMessageEncoder } from './messages.ts';
import type { ChatCompat } from './compat.ts';
import { createBodyEncoder, withSchemaInstruction, type EncodedBody } from '../http/request-body.ts';
import { isStrictSchema, toObjectSchema } from '../http/schema.ts';
import type { WireObject } from '../../wire/index.ts';

/** Creates a request body encoder for one model. */
export function createChatBodyEncoder(
  family: string,
  model: string,
  compat: ChatCompat,
): (request: ModelRequest) => EncodedBody {
  return createBodyEncoder({
    encode: createChatMessageEncoder(family, compat),
    imageSupport: compat.images,
    head: (request) => encodeRequestHead(request, model, compat),
    tail: (request) => encodeRequestTail(request, compat),
  });
}

function encodeRequestHead(request: ModelRequest, model: string, compat: ChatCompat): string {
  const { settings, tools, session } = request;
  const fields = JSON.stringify({
    model,
    stream: true,
    ...(compat.includeUsage ? { stream_options: { include_usage: true } } : {}),
    ...(compat.promptCache === 'prompt_cache_key' && session ? { prompt_cache_key: session.slice(0, 64) } : {}),
    ...(compat.promptCache === 'cache_control' ? { cache_control: { type: 'ephemeral' } } : {}),
    ...settingFields(settings, model, compat),
    ...responseFormatFields(request, compat),
    ...(tools.length > 0 ? { tools: tools.map(toolDefinition) } : {}),
  });
  const system = schemaMode(request, compat) === 'json_schema' ? request.system : withSchemaInstruction(request);
  const opening = system === '' ? '' : JSON.stringify({ role: compat.systemRole, content: system });
  return `${fields.slice(0, -1)},"messages":[${opening}`;
}

/** Encodes a tool for chat completions and Ollama. */
export const toolDefinition = ({ name, description, input }: ToolSpec): WireObject => ({
  type: 'function',
  function: { name, description, parameters: toObjectSchema(input) },
});

function settingFields(settings: ModelSettings, model: string, compat: ChatCompat): WireObject {
  const { maxOutputTokens, temperature, topP, seed, stop, reasoning } = settings;
  return {
    ...(maxOutputTokens === undefined ? {} : { [compat.maxTokens]: maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(seed === undefined ? {} : { [compat.seed]: seed }),
    ...(stop === undefined || stop.length === 0 ? {} : { stop }),
    ...(reasoning === undefined ? {} : effortFields(reasoning, model, compat)),
  };
}

function effortFields(
  effort: NonNullable<ModelSettings['reasoning']>,
  model: string,
  { effortField: field }: ChatCompat,
): WireObject {
  if (field === 'none') return {};
  if (field === 'reasoning') return { reasoning: effort === 'none' ? { enabled: false } : { effort } };
  if (field === 'thinking') return { thinking: { type: effort === 'none' ? 'disabled' : 'enabled' } };
  if (effort !== 'none') return { reasoning_effort: effort };
  // Models without reasoning reject the field, and early reasoning models do not know `none`.
  if (/^(gpt-4|gpt-3|chatgpt|o1|o3|o4)/.test(model)) return {};
  return { reasoning_effort: /^gpt-5(-(mini|nano|chat|\d{4}).*)?$/.test(model) ? 'minimal' : 'none' };
}

const schemaMode = ({ tools }: ModelRequest, compat: ChatCompat): ChatCompat['schema'] =>
  tools.length > 0 && !compat.schemaWithTools ? 'none' : compat.schema;

function responseFormatFields(request: ModelRequest, compat: ChatCompat): WireObject {
  const { outputSchema } = request;
  const mode = schemaMode(request, compat);
  if (!outputSchema || mode === 'none') return {};
  if (mode === 'json_object') return { response_format: { type: 'json_object' } };
  const json_schema = {
    name: 'answer',
    schema: outputSchema,
    ...(isStrictSchema(outputSchema) ? { strict: true } : {}),
  };
  return { response_format: { type: 'json_schema', json_schema } };
}

/** The tool choice may change between turns, so it follows the messages. */
function encodeRequestTail({ toolChoice, tools }: ModelRequest, compat: ChatCompat): string {
  return toolChoice === 'auto' || tools.length === 0
    ? ']}'
    : `],"tool_choice":${JSON.stringify(toolChoiceField(toolChoice, compat))}}`;
}

function toolChoiceField(choice: Exclude<ToolChoice, 'auto'>, compat: ChatCompat): unknown {
  if (choice === 'none') return 'none';
  return choice === 'required' ? compat.requiredChoice : { type: 'function', function: { name: choice.tool } };
}
