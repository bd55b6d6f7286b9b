// Model listings of hosted services, and of servers that use the same formats.
import type { JsonObject } from '../../core/index.ts';
import type { ListedModel, ListingStyle } from './model.ts';

const created = 1_750_000_000;

const openAIModel = (model: ListedModel, owner: string): JsonObject => ({
  id: model.id,
  object: 'model',
  created,
  owned_by: owner,
});

/** A model in the fields of each service that uses OpenAI's list format. */
export const describeByStyle: Readonly<Record<ListingStyle, (model: ListedModel) => JsonObject>> = {
  openai: (model) => openAIModel(model, 'scripted'),
  'lm-studio': (model) => openAIModel(model, 'organization_owner'),
  groq: (model) => ({
    ...openAIModel(model, 'Scripted'),
    active: true,
    context_window: model.context ?? 8192,
    max_completion_tokens: 8192,
  }),
  vllm: (model) => ({
    ...openAIModel(model, 'vllm'),
    root: model.id,
    parent: null,
    max_model_len: model.loaded ?? model.context ?? 8192,
    permission: [],
  }),
  'llama.cpp': (model) => ({
    ...openAIModel(model, 'llamacpp'),
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
    ...openAIModel(model, 'mistralai'),
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
    pricing: { prompt: pricePerToken(model.price?.input), completion: pricePerToken(model.price?.output) },
    top_provider: { context_length: model.context ?? 8192, max_completion_tokens: null, is_moderated: false },
    supported_parameters: [
      'max_tokens',
      'temperature',
      ...(model.tools ? ['tools', 'tool_choice'] : []),
      ...(model.reasoning ? ['reasoning'] : []),
    ],
  }),
  huggingface: (model) => ({
    ...openAIModel(model, 'scripted'),
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
    ...openAIModel(model, 'lemonade'),
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
  }),
};

const pricePerToken = (usd = 0): string => String(Number((usd / 1e6).toPrecision(12)));

const modalities = (model: ListedModel): JsonObject => ({
  input_modalities: model.images ? ['text', 'image'] : ['text'],
  output_modalities: ['text'],
});

/** A model as Anthropic lists it. */
export const describeForAnthropic = (model: ListedModel): JsonObject => ({
  type: 'model',
  id: model.id,
  display_name: model.id,
  created_at: '2025-06-15T00:00:00Z',
  ...(model.context === undefined ? {} : { max_input_tokens: model.context }),
});

/** A model as Google lists it. */
export const describeForGoogle = (model: ListedModel): JsonObject => ({
  name: `models/${model.id}`,
  version: '001',
  displayName: model.id,
  description: 'A scripted model',
  inputTokenLimit: model.context ?? 1_048_576,
  outputTokenLimit: 65_536,
  supportedGenerationMethods: model.embedding ? ['embedContent'] : ['generateContent', 'countTokens'],
  ...(model.reasoning ? { thinking: true } : {}),
});
