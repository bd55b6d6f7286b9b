// Model listings of hosted providers; missing fields come from the table of known models.
import { isObject, type Price, maxOf } from '../../core/index.ts';
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
import { priceOf } from '../prices.ts';

/** The defaults of a model by name, to be merged with its listing. */
function baseModelInfo(id: string, { family, prices }: ListingSource): ModelInfo {
  const price = priceOf(family.name, id, prices);
  return { id, provider: family.name, ...lookUpKnownModel(id), ...(price ? { price } : {}) };
}

/** The plain listing of `/models`: a name, and a window where the server adds one. */
export async function listOpenAICompatible(source: ListingSource): Promise<readonly ModelInfo[]> {
  const models = await getJson({ ...source, url: `${source.baseUrl}/models` });
  return objectsAt(models, 'data').flatMap((row) => {
    const id = nonEmptyString(row['id']);
    if (id === undefined || !isChatModel(id) || row['active'] === false) return [];
    const contextWindow =
      positiveCount(row['context_window']) ??
      positiveCount(row['max_model_len']) ??
      positiveCount(row['max_context_length']) ??
      positiveCount(row['context_length']);
    const maxOutput = positiveCount(row['max_completion_tokens']);
    return [
      {
        ...baseModelInfo(id, source),
        ...(contextWindow === undefined ? {} : { contextWindow }),
        ...(maxOutput === undefined ? {} : { maxOutput }),
      },
    ];
  });
}

/** OpenRouter: parameters, modalities and prices of each model. */
export async function listOpenRouter(source: ListingSource): Promise<readonly ModelInfo[]> {
  const models = await getJson({ ...source, url: `${source.baseUrl}/models` });
  return objectsAt(models, 'data').flatMap((row) => {
    const id = nonEmptyString(row['id']);
    if (id === undefined) return [];
    const top = isObject(row['top_provider']) ? row['top_provider'] : {};
    return [
      omitUndefined<ModelInfo>({
        ...baseModelInfo(id, source),
        tools: includesCapability(row['supported_parameters'], 'tools'),
        images: imageCapability(row),
        reasoning: includesCapability(row['supported_parameters'], 'reasoning'),
        contextWindow: positiveCount(row['context_length']),
        maxOutput: positiveCount(top['max_completion_tokens']),
        price: priceOf(source.family.name, id, source.prices) ?? parseTokenPrices(row['pricing']),
      }),
    ];
  });
}

const imageCapability = ({ architecture }: RawJsonObject): ModelInfo['images'] =>
  isObject(architecture) ? includesCapability(architecture['input_modalities'], 'image') : 'unknown';

/** Prices given by the token, as text; a router's -1 means that it depends. */
function parseTokenPrices(pricing: unknown): Price | undefined {
  if (!isObject(pricing)) return undefined;
  const million = (name: string): number | undefined => {
    const value = pricing[name];
    const number = value === undefined || value === '' ? Number.NaN : Number(value);
    return number >= 0 ? Math.round(number * 1e12) / 1e6 : undefined;
  };
  const input = million('prompt');
  const output = million('completion');
  if (input === undefined || output === undefined) return undefined;
  return omitUndefined<Price>({
    input,
    output,
    cacheRead: million('input_cache_read'),
    cacheWrite: million('input_cache_write'),
  });
}

/** Hugging Face: what the first live provider of a model offers. */
export async function listHuggingFace(source: ListingSource): Promise<readonly ModelInfo[]> {
  const models = await getJson({ ...source, url: `${source.baseUrl}/models` });
  return objectsAt(models, 'data').flatMap((row) => {
    const id = nonEmptyString(row['id']);
    if (id === undefined) return [];
    const live = objectsAt(row['providers'], '').filter((each) => each['status'] === 'live');
    const windows = live.flatMap((each) => positiveCount(each['context_length']) ?? []);
    const known = live.map((each) => toCapability(each['supports_tools']));
    return [
      omitUndefined<ModelInfo>({
        ...baseModelInfo(id, source),
        tools: known.includes(true) ? true : known.includes(false) ? false : 'unknown',
        images: imageCapability(row),
        contextWindow: windows.length ? maxOf(windows) : undefined,
      }),
    ];
  });
}

/** Google: windows and methods, page by page. */
export async function listGoogle(source: ListingSource): Promise<readonly ModelInfo[]> {
  const models: RawJsonObject[] = [];
  for (let page = '', i = 0; i < 20; i++) {
    const url = `${source.baseUrl}/models?pageSize=1000${page && `&pageToken=${encodeURIComponent(page)}`}`;
    const reply = await getJson({ ...source, url });
    for (const item of objectsAt(reply, 'models')) models.push(item);
    page = (isObject(reply) && nonEmptyString(reply['nextPageToken'])) || '';
    if (page === '') break;
  }
  return models.flatMap((row) => {
    const id = nonEmptyString(row['name'])?.replace(/^models\//, '');
    const methods = row['supportedGenerationMethods'];
    if (id === undefined || includesCapability(methods, 'generateContent') === false || !isChatModel(id)) return [];
    const plain = baseModelInfo(id, source);
    return [
      omitUndefined<ModelInfo>({
        ...plain,
        reasoning: row['thinking'] === true ? true : plain.reasoning,
        contextWindow: positiveCount(row['inputTokenLimit']) ?? plain.contextWindow,
        maxOutput: positiveCount(row['outputTokenLimit']) ?? plain.maxOutput,
      }),
    ];
  });
}

/** Anthropic: limits and capabilities, page by page; every Claude that is listed can call tools. */
export async function listAnthropic(source: ListingSource): Promise<readonly ModelInfo[]> {
  const models: RawJsonObject[] = [];
  for (let after = '', i = 0; i < 20; i++) {
    const url = `${source.baseUrl}/models?limit=1000${after && `&after_id=${encodeURIComponent(after)}`}`;
    const reply = await getJson({ ...source, url });
    for (const item of objectsAt(reply, 'data')) models.push(item);
    const more = isObject(reply) && reply['has_more'] === true;
    after = (more && nonEmptyString(reply['last_id'])) || '';
    if (after === '') break;
  }
  return models.flatMap((row) => {
    const id = nonEmptyString(row['id']);
    if (id === undefined) return [];
    const plain = baseModelInfo(id, source);
    const about = isObject(row['capabilities']) ? row['capabilities'] : {};
    const can = (name: string, otherwise: ModelInfo['tools']): ModelInfo['tools'] => {
      const found = toCapability(isObject(about[name]) ? about[name]['supported'] : undefined);
      return found === 'unknown' ? otherwise : found;
    };
    return [
      omitUndefined<ModelInfo>({
        ...plain,
        images: can('image_input', plain.images),
        reasoning: can('thinking', plain.reasoning),
        contextWindow: positiveCount(row['max_input_tokens']) ?? plain.contextWindow,
        maxOutput: positiveCount(row['max_tokens']) ?? plain.maxOutput,
      }),
    ];
  });
}

/** Mistral: capabilities of each model; the same model under several names is listed by each. */
export async function listMistral(source: ListingSource): Promise<readonly ModelInfo[]> {
  const models = await getJson({ ...source, url: `${source.baseUrl}/models` });
  return objectsAt(models, 'data').flatMap((row) => {
    const id = nonEmptyString(row['id']);
    const about = isObject(row['capabilities']) ? row['capabilities'] : {};
    if (id === undefined || about['completion_chat'] === false || !isChatModel(id)) return [];
    return [
      omitUndefined<ModelInfo>({
        ...baseModelInfo(id, source),
        tools: toCapability(about['function_calling']),
        images: toCapability(about['vision']),
        reasoning: toCapability(about['reasoning']),
        contextWindow: positiveCount(row['max_context_length']),
      }),
    ];
  });
}
