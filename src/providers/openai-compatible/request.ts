// Encodes chat completion requests: settings and tools before the messages, fields that change between turns after them.
import type {
  FilePart,
  Json,
  Message,
  MessagePart,
  ModelRequest,
  ModelSettings,
  ReasoningPart,
  ToolCallPart,
  ToolChoice,
  ToolSpec,
} from '../../core/index.ts';
import type { ChatCompat } from './compat.ts';
import { toolResultFileParts, withResultField, type MessageEncoder } from '../http/encode-messages.ts';
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
  const isStreamed = settings.stream !== false;
  const fields = JSON.stringify({
    model,
    stream: isStreamed,
    ...(isStreamed && compat.includeUsage ? { stream_options: { include_usage: true } } : {}),
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

/** Creates a message encoder for one family; metadata of other families is dropped. */
function createChatMessageEncoder(family: string, compat: ChatCompat): MessageEncoder {
  const filler = compat.userAfterTool ? [] : [fillerMessage];
  return (message, before) => {
    if (message.role === 'tool') {
      const files = toolResultFileParts(message);
      const fileMessages = files.length > 0 ? [...filler, { role: 'user', content: userContent(files) }] : [];
      return [...message.parts.map(encodeToolMessage), ...fileMessages];
    }
    if (message.role === 'assistant') return [encodeAssistantMessage(message, family, compat)];
    const user = { role: 'user', content: userContent(message.parts) };
    if (before?.role !== 'tool') return [user];
    // The files of the results are in a user message: a second one must not follow directly.
    const hasFileMessage = toolResultFileParts(before).length > 0;
    return [...(hasFileMessage ? [fillerMessage] : filler), user];
  };
}

/** Separates tool results from a user message for servers that require an assistant message between them. */
const fillerMessage: WireObject = { role: 'assistant', content: '(the user adds something)' };

function encodeToolMessage(part: MessagePart): object {
  if (part.type !== 'tool-result') return { role: 'user', content: userContent([part]) };
  return withResultField({ role: 'tool', tool_call_id: part.id }, 'content', part);
}

function encodeAssistantMessage(message: Message, family: string, compat: ChatCompat): WireObject {
  const { parts } = message;
  const texts = parts.filter((part) => part.type === 'text');
  const calls = parts.filter((part) => part.type === 'tool-call');
  const text = texts.map((part) => part.text).join('');
  const reasoning = parts.filter((part) => part.type === 'reasoning').filter((part) => part.meta?.family === family);
  const extra = texts.find((part) => part.meta?.family === family)?.meta?.data ?? {};
  const content = text === '' && calls.length > 0 ? null : text;
  return {
    role: 'assistant',
    content: compat.reasoningField === 'chunks' && reasoning.length > 0 ? thinkingChunks(reasoning, text) : content,
    ...reasoningFields(reasoning, compat),
    ...extra,
    ...(calls.length > 0 ? { tool_calls: calls.map((call) => encodeToolCall(call, family)) } : {}),
  };
}

function encodeToolCall(call: ToolCallPart, family: string): WireObject {
  return {
    id: call.id,
    type: 'function',
    function: { name: sanitizeToolName(call.tool), arguments: JSON.stringify(call.input) },
    ...(call.meta?.family === family ? call.meta.data : {}),
  };
}

/** An invalid tool name from a model would make every later request invalid. */
export const sanitizeToolName = (name: string): string =>
  /^[\w-]{1,64}$/.test(name) ? name : name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || 'unnamed';

const thinkingChunks = (reasoning: readonly ReasoningPart[], text: string): readonly WireObject[] => [
  ...reasoning.map((each) => ({ type: 'thinking', thinking: [{ type: 'text', text: each.text }] })),
  ...(text === '' ? [] : [{ type: 'text', text }]),
];

function reasoningFields(reasoning: readonly ReasoningPart[], { reasoningField: field }: ChatCompat): WireObject {
  if (reasoning.length === 0 || field === 'none' || field === 'chunks') return {};
  if (field !== 'reasoning_details') return { [field]: reasoning.map((each) => each.text).join('') };
  const details = reasoning.flatMap((each) => (each.meta?.data['details'] as readonly Json[] | undefined) ?? []);
  return details.length > 0 ? { reasoning_details: details } : {};
}

function userContent(parts: readonly MessagePart[]): string | readonly WireObject[] {
  if (parts.every((part) => part.type !== 'file')) return parts.map(textOfPart).join('\n\n');
  return parts.map((part) => (part.type === 'file' ? encodeFile(part) : { type: 'text', text: textOfPart(part) }));
}

const textOfPart = (part: MessagePart): string =>
  part.type === 'text' || part.type === 'reasoning' || part.type === 'tool-result' ? part.text : '';

/** Encodes images by URL or inline, audio inline, text as text, and anything else as a file. */
function encodeFile({ mediaType, data, name }: FilePart): WireObject {
  const isUrl = /^(https?|data):/.test(data);
  const url = isUrl ? data : `data:${mediaType};base64,${data}`;
  if (mediaType.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  if (mediaType.startsWith('audio/') && !isUrl)
    return { type: 'input_audio', input_audio: { data, format: /wav/.test(mediaType) ? 'wav' : 'mp3' } };
  if (mediaType.startsWith('text/') && !isUrl)
    return { type: 'text', text: `${name ? `${name}:\n` : ''}${Buffer.from(data, 'base64').toString('utf8')}` };
  return { type: 'file', file: { filename: name ?? 'file', file_data: url } };
}
