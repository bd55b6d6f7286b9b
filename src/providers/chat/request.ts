// A chat request around its messages: settings and tools before them, what may change from turn to turn behind them.
import type { ModelRequest, ModelSettings, ToolChoice, ToolSpec } from '../../core/index.ts';
import { chatMessageEncoder } from './messages.ts';
import type { ChatQuirks } from './quirks.ts';
import { bodyMaker, withSchemaRule, type PrefixBody } from '../wire/prefix-body.ts';
import { isStrict, objectSchema } from '../wire/schema.ts';

type Wire = { readonly [key: string]: unknown };

/** Makes bodies for one model of a family. */
export function chatBodies(family: string, model: string, quirks: ChatQuirks): (request: ModelRequest) => PrefixBody {
  return bodyMaker({
    encode: chatMessageEncoder(family, quirks),
    sight: quirks.images,
    head: (request) => headText(request, model, quirks),
    tail: (request) => tailText(request, quirks),
  });
}

function headText(request: ModelRequest, model: string, quirks: ChatQuirks): string {
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
  const system = schemaMode(request, quirks) === 'json_schema' ? request.system : withSchemaRule(request);
  const opening = system === '' ? '' : JSON.stringify({ role: quirks.system, content: system });
  return `${fields.slice(0, -1)},"messages":[${opening}`;
}

/** A tool as chat servers, and Ollama like them, want it. */
export const toolField = ({ name, description, input }: ToolSpec): Wire => ({
  type: 'function',
  function: { name, description, parameters: objectSchema(input) },
});

function settingFields(settings: ModelSettings, model: string, quirks: ChatQuirks): Wire {
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
  { effort: how }: ChatQuirks,
): Wire {
  if (how === 'none') return {};
  if (how === 'reasoning') return { reasoning: effort === 'none' ? { enabled: false } : { effort } };
  if (how === 'thinking') return { thinking: { type: effort === 'none' ? 'disabled' : 'enabled' } };
  if (effort !== 'none') return { reasoning_effort: effort };
  // Models that cannot think refuse the word, and the first ones that can do not know it.
  if (/^(gpt-4|gpt-3|chatgpt|o1|o3|o4)/.test(model)) return {};
  return { reasoning_effort: /^gpt-5(-(mini|nano|chat|\d{4}).*)?$/.test(model) ? 'minimal' : 'none' };
}

const schemaMode = ({ tools }: ModelRequest, quirks: ChatQuirks): ChatQuirks['schema'] =>
  tools.length > 0 && !quirks.schemaWithTools ? 'none' : quirks.schema;

function answerFields(request: ModelRequest, quirks: ChatQuirks): Wire {
  const { outputSchema } = request;
  const mode = schemaMode(request, quirks);
  if (!outputSchema || mode === 'none') return {};
  if (mode === 'json_object') return { response_format: { type: 'json_object' } };
  const json_schema = { name: 'answer', schema: outputSchema, ...(isStrict(outputSchema) ? { strict: true } : {}) };
  return { response_format: { type: 'json_schema', json_schema } };
}

/** The choice of a tool may change from one turn to the next, so it stands behind the messages. */
function tailText({ toolChoice, tools }: ModelRequest, quirks: ChatQuirks): string {
  return toolChoice === 'auto' || tools.length === 0
    ? ']}'
    : `],"tool_choice":${JSON.stringify(choiceField(toolChoice, quirks))}}`;
}

function choiceField(choice: Exclude<ToolChoice, 'auto'>, quirks: ChatQuirks): unknown {
  if (choice === 'none') return 'none';
  return choice === 'required' ? quirks.required : { type: 'function', function: { name: choice.tool } };
}
