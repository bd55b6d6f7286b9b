// Lists of models as the services and local servers give them, each with its own fields.
import type { JsonObject } from '../core/index.ts';

/** A model in the listings. */
export type ListedModel = {
  readonly id: string;
  /** Tokens the model can take. */
  readonly context?: number;
  /** Tokens it can take as it is loaded now; a local server often loads less than the model could. */
  readonly loaded?: number;
  readonly tools?: boolean;
  readonly images?: boolean;
  readonly reasoning?: boolean;
  readonly embedding?: boolean;
  /** US dollars per million tokens. */
  readonly price?: { readonly input: number; readonly output: number };
  /** The parameters of an Ollama model file, for example `num_ctx 8192`. */
  readonly parameters?: string;
};

/** Whose fields a listing in the shape of OpenAI's has. */
export type ListingStyle =
  | 'openai'
  | 'groq'
  | 'mistral'
  | 'openrouter'
  | 'huggingface'
  | 'lm-studio'
  | 'lemonade'
  | 'llama.cpp'
  | 'vllm';

/** The reply to a request that lists or describes models; nothing if it is no such request. */
export function list(
  request: { readonly method: string; readonly path: string; readonly anthropic: boolean; readonly body: unknown },
  models: readonly ListedModel[],
  style: ListingStyle,
): { readonly status: number; readonly body: string } | undefined {
  const { method, path } = request;
  if (method === 'POST' && path === '/api/show') return show(request.body, models);
  if (method !== 'GET') return undefined;
  const native = nativeListing(path, models, style);
  if (native) return { status: 200, body: JSON.stringify(native) };
  const asked = /^(.*)\/models(?:\/(.+))?$/.exec(path);
  if (!asked) return undefined;
  const [, base = '', one] = asked;
  const describe = request.anthropic ? forAnthropic : base.includes('beta') ? forGoogle : describers[style];
  if (one !== undefined) {
    const found = models.find((model) => model.id === decodeURIComponent(one));
    return found ? { status: 200, body: JSON.stringify(describe(found)) } : missing(one);
  }
  const data = models.map(describe);
  const whole = request.anthropic
    ? { data, has_more: false, first_id: models[0]?.id ?? null, last_id: models.at(-1)?.id ?? null }
    : base.includes('beta')
      ? { models: data }
      : { object: 'list', data };
  return { status: 200, body: JSON.stringify(whole) };
}

function nativeListing(path: string, models: readonly ListedModel[], style: ListingStyle): JsonObject | undefined {
  if (path === '/api/tags') return { models: models.map(forOllama) };
  if (path === '/api/version') return { version: '0.13.0' };
  if (path === '/api/ps')
    return {
      models: models
        .filter((model) => model.loaded !== undefined)
        .map((model) => ({
          ...forOllama(model),
          expires_at: '2030-01-01T00:00:00Z',
          size_vram: 4_000_000_000,
          context_length: model.loaded ?? 4096,
        })),
    };
  if (path === '/api/v0/models') return { object: 'list', data: models.map(forLmStudio0) };
  if (path === '/api/v1/models' && style === 'lm-studio') return { models: models.map(forLmStudio1) };
  if (path === '/props' && style === 'llama.cpp')
    return {
      default_generation_settings: { n_ctx: models[0]?.loaded ?? models[0]?.context ?? 4096 },
      total_slots: 1,
      model_path: models[0]?.id ?? '',
      modalities: { vision: models[0]?.images ?? false, audio: false },
      chat_template: models[0]?.tools ? '{% if tools %}{% endif %}' : '',
    };
  return undefined;
}

const missing = (id: string): { readonly status: number; readonly body: string } => ({
  status: 404,
  body: JSON.stringify({
    error: {
      message: `The model '${id}' does not exist`,
      type: 'invalid_request_error',
      param: 'model',
      code: 'model_not_found',
    },
  }),
});

const created = 1_750_000_000;

const plain = (model: ListedModel, owner: string): JsonObject => ({
  id: model.id,
  object: 'model',
  created,
  owned_by: owner,
});

const describers: Readonly<Record<ListingStyle, (model: ListedModel) => JsonObject>> = {
  openai: (model) => plain(model, 'scripted'),
  'lm-studio': (model) => plain(model, 'organization_owner'),
  groq: (model) => ({
    ...plain(model, 'Scripted'),
    active: true,
    context_window: model.context ?? 8192,
    max_completion_tokens: 8192,
  }),
  vllm: (model) => ({
    ...plain(model, 'vllm'),
    root: model.id,
    parent: null,
    max_model_len: model.loaded ?? model.context ?? 8192,
    permission: [],
  }),
  'llama.cpp': (model) => ({
    ...plain(model, 'llamacpp'),
    meta: {
      vocab_type: 1,
      n_vocab: 32000,
      n_ctx_train: model.context ?? 4096,
      n_embd: 2048,
      n_params: 1_100_000_000,
      size: 668_000_000,
    },
  }),
  mistral: (model) => ({
    ...plain(model, 'mistralai'),
    capabilities: {
      completion_chat: !model.embedding,
      function_calling: model.tools ?? false,
      vision: model.images ?? false,
      fine_tuning: false,
    },
    max_context_length: model.context ?? 32768,
    aliases: [],
    type: 'base',
  }),
  openrouter: (model) => ({
    id: model.id,
    name: model.id,
    created,
    context_length: model.context ?? 8192,
    architecture: modalities(model),
    pricing: { prompt: perToken(model.price?.input), completion: perToken(model.price?.output) },
    top_provider: { context_length: model.context ?? 8192, max_completion_tokens: null, is_moderated: false },
    supported_parameters: [
      'max_tokens',
      'temperature',
      ...(model.tools ? ['tools', 'tool_choice'] : []),
      ...(model.reasoning ? ['reasoning'] : []),
    ],
  }),
  huggingface: (model) => ({
    ...plain(model, 'scripted'),
    architecture: modalities(model),
    providers: [
      {
        provider: 'scripted',
        status: 'live',
        context_length: model.context ?? 8192,
        ...(model.price ? { pricing: { input: model.price.input, output: model.price.output } } : {}),
        supports_tools: model.tools ?? false,
        supports_structured_output: false,
      },
    ],
  }),
  lemonade: (model) => ({
    ...plain(model, 'lemonade'),
    checkpoint: `scripted/${model.id}`,
    recipe: 'llamacpp',
    size: 2.5,
    downloaded: true,
    suggested: true,
    labels: [
      ...(model.tools ? ['tool-calling'] : []),
      ...(model.images ? ['vision'] : []),
      ...(model.reasoning ? ['reasoning'] : []),
      ...(model.embedding ? ['embeddings'] : []),
    ],
    recipe_options: model.loaded === undefined ? {} : { ctx_size: model.loaded },
    ...(model.context === undefined ? {} : { max_context_window: model.context }),
  }),
};

const perToken = (usd = 0): string => String(Number((usd / 1e6).toPrecision(12)));

const modalities = (model: ListedModel): JsonObject => ({
  input_modalities: model.images ? ['text', 'image'] : ['text'],
  output_modalities: ['text'],
});

const forAnthropic = (model: ListedModel): JsonObject => ({
  type: 'model',
  id: model.id,
  display_name: model.id,
  created_at: '2025-06-15T00:00:00Z',
  ...(model.context === undefined ? {} : { max_input_tokens: model.context }),
});

const forGoogle = (model: ListedModel): JsonObject => ({
  name: `models/${model.id}`,
  version: '001',
  displayName: model.id,
  description: 'A scripted model',
  inputTokenLimit: model.context ?? 1_048_576,
  outputTokenLimit: 65_536,
  supportedGenerationMethods: model.embedding ? ['embedContent'] : ['generateContent', 'countTokens'],
  ...(model.reasoning ? { thinking: true } : {}),
});

const ollamaDetails: JsonObject = {
  parent_model: '',
  format: 'gguf',
  family: 'llama',
  families: ['llama'],
  parameter_size: '1.1B',
  quantization_level: 'Q4_K_M',
};

const forOllama = (model: ListedModel): JsonObject => ({
  name: model.id,
  model: model.id,
  modified_at: '2025-06-15T00:00:00Z',
  size: 4_000_000_000,
  digest: Buffer.from(model.id).toString('hex').padEnd(64, '0').slice(0, 64),
  details: ollamaDetails,
});

function show(body: unknown, models: readonly ListedModel[]): { readonly status: number; readonly body: string } {
  const { model: id, name } = (body ?? {}) as { readonly model?: unknown; readonly name?: unknown };
  const model = models.find((each) => each.id === (id ?? name));
  if (!model) return { status: 404, body: JSON.stringify({ error: `model '${String(id ?? name)}' not found` }) };
  const capabilities = model.embedding
    ? ['embedding']
    : [
        'completion',
        ...(model.tools ? ['tools'] : []),
        ...(model.images ? ['vision'] : []),
        ...(model.reasoning ? ['thinking'] : []),
      ];
  const shown = {
    modelfile: `FROM ${model.id}`,
    ...(model.parameters === undefined ? {} : { parameters: model.parameters }),
    template: '{{ .Prompt }}',
    details: ollamaDetails,
    model_info: {
      'general.architecture': 'llama',
      'llama.context_length': model.context ?? 4096,
      'llama.embedding_length': 2048,
    },
    capabilities,
    modified_at: '2025-06-15T00:00:00Z',
  };
  return { status: 200, body: JSON.stringify(shown) };
}

const forLmStudio0 = (model: ListedModel): JsonObject => ({
  id: model.id,
  object: 'model',
  type: model.embedding ? 'embeddings' : model.images ? 'vlm' : 'llm',
  publisher: 'scripted',
  arch: 'llama',
  compatibility_type: 'gguf',
  quantization: 'Q4_K_M',
  state: model.loaded === undefined ? 'not-loaded' : 'loaded',
  max_context_length: model.context ?? 4096,
  ...(model.loaded === undefined ? {} : { loaded_context_length: model.loaded }),
  ...(model.tools ? { capabilities: ['tool_use'] } : {}),
});

const forLmStudio1 = (model: ListedModel): JsonObject => ({
  type: model.embedding ? 'embedding' : 'llm',
  publisher: 'scripted',
  key: model.id,
  display_name: model.id,
  architecture: 'llama',
  quantization: { name: 'Q4_K_M', bits_per_weight: 4 },
  size_bytes: 4_000_000_000,
  params_string: '1.1B',
  loaded_instances:
    model.loaded === undefined
      ? []
      : [{ id: model.id, config: { context_length: model.loaded, eval_batch_size: 512, flash_attention: true } }],
  max_context_length: model.context ?? 4096,
  format: 'gguf',
  ...(model.embedding
    ? {}
    : { capabilities: { vision: model.images ?? false, trained_for_tool_use: model.tools ?? false } }),
});
