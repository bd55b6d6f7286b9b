// The body of a chat request in pieces: a head that stays the same, the messages encoded once, and a tail with what may change.
import type { Message, Request, Settings, ToolChoice, ToolSpec, Trail } from '../core/index.ts';
import { chatMessageEncoder } from './chat-messages.ts';
import type { ChatQuirks } from './chat-quirks.ts';
import { prefixEncoder } from './prefix.ts';
import { isStrict, objectSchema } from './sdk-schema.ts';

/** A body ready to send, and about how many characters of it a model has to read. */
export type ChatBody = { readonly body: readonly Buffer[]; readonly chars: number };

type Wire = { readonly [key: string]: unknown };
type Head = { readonly of: Request; readonly bytes: Buffer; readonly chars: number; readonly comma: boolean };

/** Makes bodies for one model. Everything before the messages is the same from turn to turn, so each body extends the one before it up to the end of its messages. */
export function chatBodies(family: string, model: string, quirks: ChatQuirks): (request: Request) => ChatBody {
  const encode = prefixEncoder(chatMessageEncoder(family, quirks));
  const heads = new WeakMap<Trail<Message>['items'], Head>();
  return (request) => {
    const { items } = request.messages;
    const known = heads.get(items);
    const head = known && isSameHead(known.of, request) ? known : makeHead(request, model, quirks);
    if (head !== known) heads.set(items, head);
    const messages = encode(request.messages);
    const tail = Buffer.from(tailText(request, quirks));
    const comma = head.comma && messages.size > 0 ? [commaByte] : [];
    return { body: [head.bytes, ...comma, ...messages.bytes, tail], chars: head.chars + messages.chars };
  };
}

const commaByte = Buffer.from(',');

const isSameHead = (a: Request, b: Request): boolean =>
  a.system === b.system &&
  a.tools === b.tools &&
  a.settings === b.settings &&
  a.answer === b.answer &&
  a.session === b.session;

function makeHead(request: Request, model: string, quirks: ChatQuirks): Head {
  const { settings, tools, session } = request;
  const fields = JSON.stringify({
    model,
    stream: true,
    ...(quirks.usage ? { stream_options: { include_usage: true } } : {}),
    ...(quirks.cache === 'prompt_cache_key' && session ? { prompt_cache_key: session.slice(0, 64) } : {}),
    ...(quirks.cache === 'cache_control' ? { cache_control: { type: 'ephemeral' } } : {}),
    ...settingFields(settings, model, quirks),
    ...answerFields(request, quirks),
    ...(tools.length > 0 ? { tools: tools.map(toolField) } : {}),
  });
  const system = systemText(request, quirks);
  const opening = system === '' ? '' : JSON.stringify({ role: quirks.system, content: system });
  const text = `${fields.slice(0, -1)},"messages":[${opening}`;
  return {
    of: { ...request, messages: { length: 0, items: [] } },
    bytes: Buffer.from(text),
    chars: text.length,
    comma: opening !== '',
  };
}

const toolField = ({ name, description, input }: ToolSpec): Wire => ({
  type: 'function',
  function: { name, description, parameters: objectSchema(input) },
});

function settingFields(settings: Settings, model: string, quirks: ChatQuirks): Wire {
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

function effortFields(effort: NonNullable<Settings['reasoning']>, model: string, { effort: how }: ChatQuirks): Wire {
  if (how === 'none') return {};
  if (how === 'reasoning') return { reasoning: effort === 'none' ? { enabled: false } : { effort } };
  if (how === 'thinking') return { thinking: { type: effort === 'none' ? 'disabled' : 'enabled' } };
  if (effort !== 'none') return { reasoning_effort: effort };
  // Models that cannot think refuse the word, and the first ones that can do not know it.
  if (/^(gpt-4|gpt-3|chatgpt|o1|o3|o4)/.test(model)) return {};
  return { reasoning_effort: /^gpt-5(-(mini|nano|chat|\d{4}).*)?$/.test(model) ? 'minimal' : 'none' };
}

const schemaMode = ({ tools }: Request, quirks: ChatQuirks): ChatQuirks['schema'] =>
  tools.length > 0 && !quirks.schemaWithTools ? 'none' : quirks.schema;

function answerFields(request: Request, quirks: ChatQuirks): Wire {
  const { answer } = request;
  const mode = schemaMode(request, quirks);
  if (!answer || mode === 'none') return {};
  if (mode === 'json_object') return { response_format: { type: 'json_object' } };
  const json_schema = { name: 'answer', schema: answer, ...(isStrict(answer) ? { strict: true } : {}) };
  return { response_format: { type: 'json_schema', json_schema } };
}

function systemText(request: Request, quirks: ChatQuirks): string {
  const { system, answer } = request;
  if (!answer || schemaMode(request, quirks) === 'json_schema') return system;
  const rule = `When you give your final answer, give one JSON value that fits this JSON schema, and nothing else:\n${JSON.stringify(answer)}`;
  return system === '' ? rule : `${system}\n\n${rule}`;
}

/** The choice of a tool may change from one turn to the next, so it stands behind the messages. */
function tailText({ choice, tools }: Request, quirks: ChatQuirks): string {
  return choice === 'auto' || tools.length === 0
    ? ']}'
    : `],"tool_choice":${JSON.stringify(choiceField(choice, quirks))}}`;
}

function choiceField(choice: Exclude<ToolChoice, 'auto'>, quirks: ChatQuirks): unknown {
  if (choice === 'none') return 'none';
  return choice === 'required' ? quirks.required : { type: 'function', function: { name: choice.tool } };
}
