// Model listing of Ollama with capabilities and context windows.
import { asObject } from '../../wire/index.ts';
import { parseOllamaWindows } from '../../wire/ollama/index.ts';
import { getJson, postJson } from '../http/http.ts';
import { priceOf } from '../prices.ts';
import {
  positiveCount,
  omitUndefined,
  includesCapability,
  objectsAt,
  nonEmptyString,
  type ModelInfo,
  type RawJsonObject,
  type ListingSource,
} from './model-info.ts';

/** Max concurrent model queries. */
const maxConcurrent = 4;

/** Lists the models of Ollama; a model that cannot be queried has unknown capabilities. */
export async function listOllama(source: ListingSource): Promise<readonly ModelInfo[]> {
  const { baseUrl } = source;
  const [tags, running] = await Promise.all([
    getJson({ ...source, url: `${baseUrl}/api/tags` }),
    getJson({ ...source, url: `${baseUrl}/api/ps` }).catch(() => undefined),
  ]);
  const loaded = new Map(objectsAt(running, 'models').map((each) => [nonEmptyString(each['name']), each]));
  const models = objectsAt(tags, 'models');
  const found: (ModelInfo | undefined)[] = Array.from({ length: models.length });
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < models.length; i = next++)
      found[i] = await describeOllamaModel(source, models[i] as RawJsonObject, loaded);
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrent, models.length) }, worker));
  return found.filter((each) => each !== undefined);
}

async function describeOllamaModel(
  source: ListingSource,
  tag: RawJsonObject,
  loaded: ReadonlyMap<string | undefined, RawJsonObject>,
): Promise<ModelInfo | undefined> {
  const id = nonEmptyString(tag['name']) ?? nonEmptyString(tag['model']);
  if (id === undefined) return undefined;
  const shown = await postJson({ ...source, url: `${source.baseUrl}/api/show` }, { model: id }).catch(() => undefined);
  const { capabilities } = asObject(shown);
  const { configured, max } = parseOllamaWindows(shown);
  if (Array.isArray(capabilities) && capabilities.length > 0 && !capabilities.includes('completion')) return undefined;
  return omitUndefined<ModelInfo>({
    id,
    provider: source.family.name,
    tools: includesCapability(capabilities, 'tools'),
    images: includesCapability(capabilities, 'vision'),
    reasoning: includesCapability(capabilities, 'thinking'),
    contextWindow: positiveCount(loaded.get(id)?.['context_length']) ?? configured ?? max,
    maxOutput: undefined,
    loaded: loaded.has(id),
    size: positiveCount(tag['size']),
    price: priceOf(source.family.name, id, source.prices),
  });
}
