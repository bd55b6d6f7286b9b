// The models of providers reached by a key: each listing has its own fields, and what it leaves out comes from the table of known models.
import { isObject, type Price } from '../../core/index.ts';
import { getJson } from '../wire/http.ts';
import { count, filled, listed, rows, said, text, type ModelInfo, type Raw, type Source } from './info.ts';
import { knownModel, talks } from './known.ts';
import { priceOf } from '../prices.ts';

/** A model with what its name tells and its price, to be overlaid with what the listing tells. */
function base(id: string, { family, prices }: Source): ModelInfo {
  const price = priceOf(family.name, id, prices);
  return { id, provider: family.name, ...knownModel(id), ...(price ? { price } : {}) };
}

/** The plain listing of `/models`: a name, and a window where the server adds one. */
export async function listPlain(source: Source): Promise<readonly ModelInfo[]> {
  const models = await getJson({ ...source, url: `${source.baseUrl}/models` });
  return rows(models, 'data').flatMap((row) => {
    const id = text(row['id']);
    if (id === undefined || !talks(id) || row['active'] === false) return [];
    const contextWindow =
      count(row['context_window']) ??
      count(row['max_model_len']) ??
      count(row['max_context_length']) ??
      count(row['context_length']);
    const maxOutput = count(row['max_completion_tokens']);
    return [
      {
        ...base(id, source),
        ...(contextWindow === undefined ? {} : { contextWindow }),
        ...(maxOutput === undefined ? {} : { maxOutput }),
      },
    ];
  });
}

/** OpenRouter: parameters, modalities and prices of each model. */
export async function listOpenRouter(source: Source): Promise<readonly ModelInfo[]> {
  const models = await getJson({ ...source, url: `${source.baseUrl}/models` });
  return rows(models, 'data').flatMap((row) => {
    const id = text(row['id']);
    if (id === undefined) return [];
    const top = isObject(row['top_provider']) ? row['top_provider'] : {};
    return [
      filled<ModelInfo>({
        ...base(id, source),
        tools: listed(row['supported_parameters'], 'tools'),
        images: seesImages(row),
        reasoning: listed(row['supported_parameters'], 'reasoning'),
        contextWindow: count(row['context_length']),
        maxOutput: count(top['max_completion_tokens']),
        price: priceOf(source.family.name, id, source.prices) ?? perToken(row['pricing']),
      }),
    ];
  });
}

const seesImages = ({ architecture }: Raw): ModelInfo['images'] =>
  isObject(architecture) ? listed(architecture['input_modalities'], 'image') : 'unknown';

/** Prices given by the token, as text; a router's -1 means that it depends. */
function perToken(pricing: unknown): Price | undefined {
  if (!isObject(pricing)) return undefined;
  const million = (name: string): number | undefined => {
    const value = pricing[name];
    const number = value === undefined || value === '' ? Number.NaN : Number(value);
    return number >= 0 ? Math.round(number * 1e12) / 1e6 : undefined;
  };
  const input = million('prompt');
  const output = million('completion');
  if (input === undefined || output === undefined) return undefined;
  return filled<Price>({
    input,
    output,
    cacheRead: million('input_cache_read'),
    cacheWrite: million('input_cache_write'),
  });
}

/** Hugging Face: what the first live provider of a model offers. */
export async function listHuggingFace(source: Source): Promise<readonly ModelInfo[]> {
  const models = await getJson({ ...source, url: `${source.baseUrl}/models` });
  return rows(models, 'data').flatMap((row) => {
    const id = text(row['id']);
    if (id === undefined) return [];
    const live = rows(row['providers'], '').filter((each) => each['status'] === 'live');
    const windows = live.flatMap((each) => count(each['context_length']) ?? []);
    const known = live.map((each) => said(each['supports_tools']));
    return [
      filled<ModelInfo>({
        ...base(id, source),
        tools: known.includes(true) ? true : known.includes(false) ? false : 'unknown',
        images: seesImages(row),
        contextWindow: windows.length ? Math.max(...windows) : undefined,
      }),
    ];
  });
}

/** Google: windows and methods, page by page. */
export async function listGoogle(source: Source): Promise<readonly ModelInfo[]> {
  const models: Raw[] = [];
  for (let page = '', i = 0; i < 20; i++) {
    const url = `${source.baseUrl}/models?pageSize=1000${page && `&pageToken=${encodeURIComponent(page)}`}`;
    const reply = await getJson({ ...source, url });
    models.push(...rows(reply, 'models'));
    page = (isObject(reply) && text(reply['nextPageToken'])) || '';
    if (page === '') break;
  }
  return models.flatMap((row) => {
    const id = text(row['name'])?.replace(/^models\//, '');
    const methods = row['supportedGenerationMethods'];
    if (id === undefined || listed(methods, 'generateContent') === false || !talks(id)) return [];
    const plain = base(id, source);
    return [
      filled<ModelInfo>({
        ...plain,
        reasoning: row['thinking'] === true ? true : plain.reasoning,
        contextWindow: count(row['inputTokenLimit']) ?? plain.contextWindow,
        maxOutput: count(row['outputTokenLimit']) ?? plain.maxOutput,
      }),
    ];
  });
}

/** Anthropic: limits and capabilities, page by page; every Claude that is listed can call tools. */
export async function listAnthropic(source: Source): Promise<readonly ModelInfo[]> {
  const models: Raw[] = [];
  for (let after = '', i = 0; i < 20; i++) {
    const url = `${source.baseUrl}/models?limit=1000${after && `&after_id=${encodeURIComponent(after)}`}`;
    const reply = await getJson({ ...source, url });
    models.push(...rows(reply, 'data'));
    const more = isObject(reply) && reply['has_more'] === true;
    after = (more && text(reply['last_id'])) || '';
    if (after === '') break;
  }
  return models.flatMap((row) => {
    const id = text(row['id']);
    if (id === undefined) return [];
    const plain = base(id, source);
    const about = isObject(row['capabilities']) ? row['capabilities'] : {};
    const can = (name: string, otherwise: ModelInfo['tools']): ModelInfo['tools'] => {
      const found = said(isObject(about[name]) ? about[name]['supported'] : undefined);
      return found === 'unknown' ? otherwise : found;
    };
    return [
      filled<ModelInfo>({
        ...plain,
        images: can('image_input', plain.images),
        reasoning: can('thinking', plain.reasoning),
        contextWindow: count(row['max_input_tokens']) ?? plain.contextWindow,
        maxOutput: count(row['max_tokens']) ?? plain.maxOutput,
      }),
    ];
  });
}

/** Mistral: capabilities of each model; the same model under several names is listed by each. */
export async function listMistral(source: Source): Promise<readonly ModelInfo[]> {
  const models = await getJson({ ...source, url: `${source.baseUrl}/models` });
  return rows(models, 'data').flatMap((row) => {
    const id = text(row['id']);
    const about = isObject(row['capabilities']) ? row['capabilities'] : {};
    if (id === undefined || about['completion_chat'] === false || !talks(id)) return [];
    return [
      filled<ModelInfo>({
        ...base(id, source),
        tools: said(about['function_calling']),
        images: said(about['vision']),
        reasoning: said(about['reasoning']),
        contextWindow: count(row['max_context_length']),
      }),
    ];
  });
}
