// Model listings of LM Studio, Lemonade, llama.cpp and vLLM.
import { isObject } from '../../core/index.ts';
import { getJson } from '../http/http.ts';
import {
  positiveCount,
  omitUndefined,
  includesCapability,
  objectsAt,
  toCapability,
  nonEmptyString,
  type ModelInfo,
  type RawJsonObject,
  type ListingSource,
} from './model-info.ts';
import { lookUpKnownModel, isChatModel } from './known-models.ts';
import { listOpenAICompatible } from './remote.ts';

const freePrice = { input: 0, output: 0 };

/** The address without the path of the OpenAI-compatible API. */
const serverRoot = ({ baseUrl }: ListingSource): string => baseUrl.replace(/(\/api)?\/v\d+$/, '');

/** LM Studio: its own listing, the newer one first, else the plain one. */
export async function listLmStudio(source: ListingSource): Promise<readonly ModelInfo[]> {
  const newer = await getJson({ ...source, url: `${serverRoot(source)}/api/v1/models` }).catch(() => undefined);
  if (isObject(newer) && Array.isArray(newer['models']))
    return objectsAt(newer, 'models').flatMap(parseLmStudioV1(source));
  const older = await getJson({ ...source, url: `${serverRoot(source)}/api/v0/models` }).catch(() => undefined);
  const models = objectsAt(older, 'data').filter((row) => nonEmptyString(row['type']) !== undefined);
  // If any model lists capabilities, one without a list has none; older versions list none at all.
  const tells = models.some((row) => Array.isArray(row['capabilities']));
  return models.length > 0 ? models.flatMap(parseLmStudioV0(source, tells)) : listOpenAICompatible(source);
}

const parseLmStudioV1 =
  ({ family }: ListingSource) =>
  (row: RawJsonObject): readonly ModelInfo[] => {
    const id = nonEmptyString(row['key']);
    if (id === undefined || row['type'] === 'embedding') return [];
    const about = isObject(row['capabilities']) ? row['capabilities'] : {};
    const instance = objectsAt(row['loaded_instances'], '')[0];
    const config = isObject(instance?.['config']) ? instance['config'] : {};
    const { reasoning } = about;
    return [
      omitUndefined<ModelInfo>({
        id,
        provider: family.name,
        tools: toCapability(about['trained_for_tool_use']),
        images: toCapability(about['vision']),
        reasoning: isObject(reasoning) ? true : toCapability(reasoning),
        contextWindow: positiveCount(config['context_length']) ?? positiveCount(row['max_context_length']),
        maxOutput: undefined,
        loaded: instance !== undefined,
        size: positiveCount(row['size_bytes']),
        price: freePrice,
      }),
    ];
  };

const parseLmStudioV0 =
  ({ family }: ListingSource, tells: boolean) =>
  (row: RawJsonObject): readonly ModelInfo[] => {
    const id = nonEmptyString(row['id']);
    if (id === undefined || row['type'] === 'embeddings') return [];
    return [
      omitUndefined<ModelInfo>({
        id,
        provider: family.name,
        tools: tells ? includesCapability(row['capabilities'] ?? [], 'tool_use') : 'unknown',
        images: row['type'] === 'vlm',
        reasoning: 'unknown',
        contextWindow: positiveCount(row['loaded_context_length']) ?? positiveCount(row['max_context_length']),
        maxOutput: undefined,
        loaded: nonEmptyString(row['state']) === undefined ? undefined : row['state'] === 'loaded',
        size: undefined,
        price: freePrice,
      }),
    ];
  };

/** Lemonade: labels say what a model can do, its health which are loaded and how; a listing without labels is a plain one. */
export async function listLemonade(source: ListingSource): Promise<readonly ModelInfo[]> {
  const [own, health] = await Promise.all(
    ['models', 'health'].map((path) =>
      getJson({ ...source, url: `${serverRoot(source)}/api/v1/${path}` }).catch(() => undefined),
    ),
  );
  const models = objectsAt(own, 'data');
  if (!models.some((row) => Array.isArray(row['labels']))) return listOpenAICompatible(source);
  const tells = isObject(health) && Array.isArray(health['all_models_loaded']);
  const loaded = new Map(objectsAt(health, 'all_models_loaded').map((row) => [nonEmptyString(row['model_name']), row]));
  return models.flatMap((row) => parseLemonadeModel(row, source, tells ? loaded : undefined));
}

function parseLemonadeModel(
  row: RawJsonObject,
  { family }: ListingSource,
  loaded: ReadonlyMap<string | undefined, RawJsonObject> | undefined,
): readonly ModelInfo[] {
  const id = nonEmptyString(row['id']);
  const { labels } = row;
  const other = Array.isArray(labels) && labels.some((label) => /embed|rerank|transcri|tts|image|audio/.test(label));
  if (id === undefined || other || row['downloaded'] === false) return [];
  const running = loaded?.get(id)?.['recipe_options'] ?? row['recipe_options'];
  const options = isObject(running) ? running : {};
  const gigabytes = typeof row['size'] === 'number' ? row['size'] : 0;
  return [
    omitUndefined<ModelInfo>({
      id,
      provider: family.name,
      tools: includesCapability(labels, 'tool-calling'),
      images: includesCapability(labels, 'vision'),
      reasoning: includesCapability(labels, 'reasoning'),
      contextWindow:
        positiveCount(options['ctx_size']) ??
        positiveCount(row['max_context_window']) ??
        positiveCount(row['context_length']),
      maxOutput: undefined,
      loaded: loaded?.has(id),
      size: positiveCount(Math.round(gigabytes * 1e9)),
      price: row['recipe'] === 'cloud' ? undefined : freePrice,
    }),
  ];
}

/** llama.cpp: one model, whose template says whether it can call tools. */
export async function listLlamaCpp(source: ListingSource): Promise<readonly ModelInfo[]> {
  const [props, models] = await Promise.all([
    getJson({ ...source, url: `${serverRoot(source)}/props` }).catch(() => undefined),
    getJson({ ...source, url: `${source.baseUrl}/models` }),
  ]);
  const about = isObject(props) ? props : {};
  const settings = isObject(about['default_generation_settings']) ? about['default_generation_settings'] : {};
  const caps = isObject(about['chat_template_caps']) ? about['chat_template_caps'] : {};
  const { chat_template: template } = about;
  const modalities = isObject(about['modalities']) ? about['modalities'] : {};
  return objectsAt(models, 'data').flatMap((row, _, all) => {
    const id = nonEmptyString(row['id']);
    if (id === undefined || !isChatModel(id)) return [];
    const meta = isObject(row['meta']) ? row['meta'] : {};
    // A router lists many models, and its properties are those of none of them.
    const only = all.length === 1;
    const tools = caps['supports_tools'] ?? (typeof template === 'string' ? /\btools\b/.test(template) : undefined);
    return [
      omitUndefined<ModelInfo>({
        id,
        provider: source.family.name,
        tools: only ? toCapability(tools) : 'unknown',
        images: only ? toCapability(modalities['vision']) : 'unknown',
        reasoning: 'unknown',
        contextWindow: (only ? positiveCount(settings['n_ctx']) : undefined) ?? positiveCount(meta['n_ctx_train']),
        maxOutput: undefined,
        loaded: only ? true : undefined,
        size: positiveCount(meta['size']),
        price: freePrice,
      }),
    ];
  });
}

/** vLLM: the plain listing with the window it was started with. */
export async function listVllm(source: ListingSource): Promise<readonly ModelInfo[]> {
  const models = await getJson({ ...source, url: `${source.baseUrl}/models` });
  return objectsAt(models, 'data').flatMap((row) => {
    const id = nonEmptyString(row['id']);
    if (id === undefined || !isChatModel(id)) return [];
    const contextWindow = positiveCount(row['max_model_len']);
    return [
      {
        ...lookUpKnownModel(id),
        id,
        provider: source.family.name,
        ...(contextWindow === undefined ? {} : { contextWindow }),
        loaded: true,
        price: freePrice,
      },
    ];
  });
}
