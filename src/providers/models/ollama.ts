// Ollama's models: the list, and for each what it can do and how many tokens it takes.
import { isObject } from '../../core/index.ts';
import { getJson, postJson } from '../wire/http.ts';
import { priceOf } from '../prices.ts';
import { count, filled, listed, rows, text, type ModelInfo, type Raw, type Source } from './info.ts';

/** How many models are looked at side by side. */
const atOnce = 4;

/** Ollama's models with their capabilities; one that cannot be looked at is listed as unknown. */
export async function listOllama(source: Source): Promise<readonly ModelInfo[]> {
  const { baseUrl } = source;
  const [tags, running] = await Promise.all([
    getJson({ ...source, url: `${baseUrl}/api/tags` }),
    getJson({ ...source, url: `${baseUrl}/api/ps` }).catch(() => undefined),
  ]);
  const loaded = new Map(rows(running, 'models').map((each) => [text(each['name']), each]));
  const models = rows(tags, 'models');
  const found: (ModelInfo | undefined)[] = Array.from({ length: models.length });
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < models.length; i = next++) found[i] = await look(source, models[i] as Raw, loaded);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, models.length) }, worker));
  return found.filter((each) => each !== undefined);
}

async function look(
  source: Source,
  tag: Raw,
  loaded: ReadonlyMap<string | undefined, Raw>,
): Promise<ModelInfo | undefined> {
  const id = text(tag['name']) ?? text(tag['model']);
  if (id === undefined) return undefined;
  const shown = await postJson({ ...source, url: `${source.baseUrl}/api/show` }, { model: id }).catch(() => undefined);
  const about = isObject(shown) ? shown : {};
  const { capabilities } = about;
  if (Array.isArray(capabilities) && capabilities.length > 0 && !capabilities.includes('completion')) return undefined;
  return filled<ModelInfo>({
    id,
    provider: source.family.name,
    tools: listed(capabilities, 'tools'),
    images: listed(capabilities, 'vision'),
    reasoning: listed(capabilities, 'thinking'),
    contextWindow: count(loaded.get(id)?.['context_length']) ?? setWindow(about) ?? largestWindow(about),
    maxOutput: undefined,
    loaded: loaded.has(id),
    size: count(tag['size']),
    price: priceOf(source.family.name, id, source.prices),
  });
}

/** The window that the model's own file sets. */
function setWindow({ parameters }: Raw): number | undefined {
  const found = typeof parameters === 'string' ? /^\s*num_ctx\s+"?(\d+)/m.exec(parameters) : null;
  return found ? count(found[1]) : undefined;
}

/** The window the model was made for: its architecture's own `context_length`. */
function largestWindow({ model_info: info }: Raw): number | undefined {
  if (!isObject(info)) return undefined;
  const name = Object.keys(info).find((key) => key.endsWith('.context_length'));
  return name === undefined ? undefined : count(info[name]);
}
