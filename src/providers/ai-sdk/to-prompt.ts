// Converts requests to the prompt format of the AI SDK. Each message is converted once and cached.
import type {
  JSONValue,
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import {
  formatToolResult,
  isObject,
  type FilePart,
  type JsonObject,
  type Message,
  type ProviderMetadata,
  type MessagePart,
  type ModelRequest,
  type ToolResultPart,
  type ToolChoice,
  type ToolSpec,
} from '../../core/index.ts';

/** The differences of a provider family. */
export type ProviderProfile = {
  /** The family whose metadata is sent back; that of others is dropped. */
  readonly family: string;
  /** The key of the provider options of this family in the SDK. */
  readonly optionsKey: string;
  /** Converts a tool schema to the format of the server. */
  toolSchema(input: JsonObject): JsonObject;
  /** Returns options for the whole request. */
  requestOptions(request: ModelRequest): Readonly<Record<string, JSONValue | undefined>>;
  /** Options for the system prompt. */
  readonly systemOptions?: Readonly<Record<string, JSONValue>>;
  /** Whether tool schemas are marked as not strict: some servers would otherwise rewrite them. */
  readonly nonStrictTools?: boolean;
  /** Whether the wire format has no marker for failed results: then their text states the failure and is not wrapped. */
  readonly plainErrorResults?: boolean;
  /** Whether files of the model can be sent back. */
  readonly acceptsOwnFiles?: boolean;
  /** Replaces settings that are not supported for this request. */
  adjust?(request: ModelRequest): Pick<ModelRequest, 'toolChoice' | 'settings'>;
  /** The default max output tokens. */
  readonly maxOutputTokens?: number;
};

type AssistantPart = (LanguageModelV4Message & { role: 'assistant' })['content'][number];

/** Creates a function that converts requests to call options, with a cache of converted messages. */
export function createPromptConverter(
  accent: ProviderProfile,
): (request: ModelRequest, signal: AbortSignal) => LanguageModelV4CallOptions {
  const converted = new WeakMap<readonly Message[], (LanguageModelV4Message | undefined)[]>();
  const offered = new WeakMap<readonly ToolSpec[], LanguageModelV4FunctionTool[]>();

  function messagesOf({ messages }: ModelRequest): LanguageModelV4Message[] {
    const known = converted.get(messages.items) ?? [];
    if (known.length === 0) converted.set(messages.items, known);
    for (let i = known.length; i < messages.length; i++) known.push(toSdkMessage(messages.items[i] as Message, accent));
    return known.slice(0, messages.length).filter((each) => each !== undefined);
  }

  function toolsOf({ tools }: ModelRequest): LanguageModelV4FunctionTool[] {
    const known = offered.get(tools);
    if (known) return known;
    const sdkTools = tools.map((tool) => toSdkTool(tool, accent));
    offered.set(tools, sdkTools);
    return sdkTools;
  }

  return (request, signal) => {
    const { system, outputSchema } = request;
    const { settings, toolChoice } = accent.adjust?.(request) ?? request;
    const opening: LanguageModelV4Message[] =
      system === ''
        ? []
        : [
            {
              role: 'system',
              content: system,
              ...(accent.systemOptions ? toProviderOptions(accent, accent.systemOptions) : {}),
            },
          ];
    const tools = toolsOf(request);
    const maxOutputTokens = settings.maxOutputTokens ?? accent.maxOutputTokens;
    return {
      prompt: [...opening, ...messagesOf(request)],
      ...(tools.length > 0 ? { tools, toolChoice: toSdkToolChoice(toolChoice) } : {}),
      ...(outputSchema ? { responseFormat: { type: 'json', schema: outputSchema, name: 'answer' } } : {}),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
      ...(settings.topP === undefined ? {} : { topP: settings.topP }),
      ...(settings.seed === undefined ? {} : { seed: settings.seed }),
      ...(settings.stop && settings.stop.length > 0 ? { stopSequences: [...settings.stop] } : {}),
      ...(settings.reasoning === undefined ? {} : { reasoning: settings.reasoning }),
      providerOptions: { [accent.optionsKey]: omitUndefinedOptions(accent.requestOptions(request)) },
      abortSignal: signal,
    };
  };
}

const omitUndefinedOptions = (options: Readonly<Record<string, JSONValue | undefined>>): Record<string, JSONValue> =>
  Object.fromEntries(Object.entries(options).filter((entry): entry is [string, JSONValue] => entry[1] !== undefined));

const toProviderOptions = (
  { optionsKey }: ProviderProfile,
  options: Readonly<Record<string, JSONValue>>,
): { readonly providerOptions: SharedV4ProviderOptions } => ({ providerOptions: { [optionsKey]: { ...options } } });

const toSdkTool = ({ name, description, input }: ToolSpec, accent: ProviderProfile): LanguageModelV4FunctionTool => ({
  type: 'function',
  name,
  description,
  inputSchema: accent.toolSchema(input),
  ...(accent.nonStrictTools ? { strict: false } : {}),
});

const toSdkToolChoice = (choice: ToolChoice): LanguageModelV4ToolChoice =>
  typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.tool };

/** Converts a message; returns undefined if all its parts belong to another family. */
function toSdkMessage({ role, parts }: Message, accent: ProviderProfile): LanguageModelV4Message | undefined {
  if (role === 'user') {
    const content = parts.flatMap(userPart);
    return content.length > 0 ? { role, content } : undefined;
  }
  if (role === 'assistant') {
    const content = parts.flatMap((part) => assistantPart(part, accent));
    return content.length > 0 ? { role, content } : undefined;
  }
  const results = parts.filter((part): part is ToolResultPart => part.type === 'tool-result');
  return results.length > 0 ? { role, content: results.map((part) => resultPart(part, accent)) } : undefined;
}

function userPart(part: MessagePart): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
  if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
  return part.type === 'file' ? [filePart(part)] : [];
}

function assistantPart(part: MessagePart, accent: ProviderProfile): AssistantPart[] {
  switch (part.type) {
    case 'text': {
      const meta = familyOptions(part.meta, accent);
      return meta || part.text.trim() !== '' ? [{ type: 'text', text: part.text, ...meta }] : [];
    }
    case 'reasoning': {
      // Reasoning is sent back only to its own family, and only with the required signature.
      const meta = familyOptions(part.meta, accent);
      return meta ? [{ type: 'reasoning', text: part.text, ...meta }] : [];
    }
    case 'tool-call': {
      const input = isObject(part.input) ? part.input : { input: part.input };
      return [
        { type: 'tool-call', toolCallId: part.id, toolName: part.tool, input, ...familyOptions(part.meta, accent) },
      ];
    }
    case 'file': {
      const file = accent.acceptsOwnFiles ? filePart(part) : undefined;
      return file ? [{ ...file, ...familyOptions(part.meta, accent) }] : [];
    }
    case 'tool-result':
      return [];
  }
}

const resultPart = (
  part: ToolResultPart,
  { plainErrorResults }: ProviderProfile,
): (LanguageModelV4Message & { role: 'tool' })['content'][number] => ({
  type: 'tool-result',
  toolCallId: part.id,
  toolName: part.tool,
  output: part.files?.length
    ? {
        type: 'content',
        value: [{ type: 'text', text: formatToolResult(part) || '(no text)' }, ...part.files.map(filePart)],
      }
    : {
        type: part.failed && !plainErrorResults ? 'error-text' : 'text',
        value: formatToolResult(part) || '(no output)',
      },
});

function familyOptions(
  meta: ProviderMetadata | undefined,
  accent: ProviderProfile,
): { readonly providerOptions: SharedV4ProviderOptions } | undefined {
  return meta?.family === accent.family ? toProviderOptions(accent, meta.data) : undefined;
}

/** Converts a file to the format of the SDK. Text files are sent as text, which every model supports. */
function filePart({ mediaType, data, name }: FilePart): LanguageModelV4FilePart | LanguageModelV4TextPart {
  const url = /^(https?|gs):\/\//i.test(data) && URL.canParse(data) ? new URL(data) : undefined;
  const base64 = data.replace(/^data:[^,]*;base64,/, '');
  if (!url && /^text\/|^application\/(json|xml|yaml|javascript)\b/.test(mediaType)) {
    const words = Buffer.from(base64, 'base64').toString('utf8');
    return { type: 'text', text: name === undefined ? words : `${name}:\n${words}` };
  }
  return {
    type: 'file',
    mediaType,
    data: url ? { type: 'url', url } : { type: 'data', data: base64 },
    ...(name === undefined ? {} : { filename: name }),
  };
}
