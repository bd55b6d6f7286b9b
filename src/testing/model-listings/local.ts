// Model listings of local servers, at their own paths.
import type { JsonObject } from '../../core/index.ts';
import type { ListedModel, ListingStyle } from './model.ts';

/** Returns the response to a path that only one local server has. */
export function getNativeListing(
  path: string,
  models: readonly ListedModel[],
  style: ListingStyle,
): JsonObject | undefined {
  if (path === '/api/tags') return { models: models.map(describeForOllama) };
  if (path === '/api/version') return { version: '0.13.0' };
  if (path === '/api/ps')
    return {
      models: models
        .filter((model) => model.loaded !== undefined)
        .map((model) => ({
          ...describeForOllama(model),
          expires_at: '2030-01-01T00:00:00Z',
          size_vram: 4_000_000_000,
          context_length: model.loaded ?? 4096,
        })),
    };
  if (path === '/api/v0/models') return { object: 'list', data: models.map(describeForLmStudioV0) };
  if (path === '/api/v1/models' && style === 'lm-studio') return { models: models.map(describeForLmStudioV1) };
  if (path === '/api/v1/health' && style === 'lemonade')
    return {
      status: 'ok',
      model_loaded: models.find((model) => model.loaded !== undefined)?.id ?? null,
      all_models_loaded: models
        .filter((model) => model.loaded !== undefined)
        .map((model) => ({
          model_name: model.id,
          type: model.embedding ? 'embedding' : 'llm',
          recipe: 'llamacpp',
          recipe_options: { ctx_size: model.loaded ?? 4096 },
        })),
    };
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

const ollamaDetails: JsonObject = {
  parent_model: '',
  format: 'gguf',
  family: 'llama',
  families: ['llama'],
  parameter_size: '1.1B',
  quantization_level: 'Q4_K_M',
};

const describeForOllama = (model: ListedModel): JsonObject => ({
  name: model.id,
  model: model.id,
  modified_at: '2025-06-15T00:00:00Z',
  size: 4_000_000_000,
  digest: Buffer.from(model.id).toString('hex').padEnd(64, '0').slice(0, 64),
  details: ollamaDetails,
});

/** Ollama's description of one model. */
export function describeOllamaModel(
  body: unknown,
  models: readonly ListedModel[],
): { readonly status: number; readonly body: string } {
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

const describeForLmStudioV0 = (model: ListedModel): JsonObject => ({
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

const describeForLmStudioV1 = (model: ListedModel): JsonObject => ({
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
