// The models of local servers that have listings of their own: LM Studio, Lemonade, llama.cpp and vLLM.
import { isObject } from '../../core/index.ts';
import { getJson } from '../wire/http.ts';
import { count, filled, listed, rows, said, text, type ModelInfo, type Raw, type Source } from './info.ts';
import { knownModel, talks } from './known.ts';
import { listPlain } from './remote.ts';

const free = { input: 0, output: 0 };

/** The address without the path of the OpenAI-like API. */
const root = ({ baseUrl }: Source): string => baseUrl.replace(/(\/api)?\/v\d+$/, '');

/** LM Studio: its own listing, the newer one first, else the plain one. */
export async function listLmStudio(source: Source): Promise<readonly ModelInfo[]> {
  const newer = await getJson({ ...source, url: `${root(source)}/api/v1/models` }).catch(() => undefined);
  if (isObject(newer) && Array.isArray(newer['models'])) return rows(newer, 'models').flatMap(fromLmStudio1(source));
  const older = await getJson({ ...source, url: `${root(source)}/api/v0/models` }).catch(() => undefined);
  const models = rows(older, 'data').filter((row) => text(row['type']) !== undefined);
  // Where any model has a list of capabilities, one without a list has none; older versions list none at all.
  const tells = models.some((row) => Array.isArray(row['capabilities']));
  return models.length > 0 ? models.flatMap(fromLmStudio0(source, tells)) : listPlain(source);
}

const fromLmStudio1 =
  ({ family }: Source) =>
  (row: Raw): readonly ModelInfo[] => {
    const id = text(row['key']);
    if (id === undefined || row['type'] === 'embedding') return [];
    const about = isObject(row['capabilities']) ? row['capabilities'] : {};
    const instance = rows(row['loaded_instances'], '')[0];
    const config = isObject(instance?.['config']) ? instance['config'] : {};
    const { reasoning } = about;
    return [
      filled<ModelInfo>({
        id,
        provider: family.name,
        tools: said(about['trained_for_tool_use']),
        images: said(about['vision']),
        reasoning: isObject(reasoning) ? true : said(reasoning),
        contextWindow: count(config['context_length']) ?? count(row['max_context_length']),
        maxOutput: undefined,
        loaded: instance !== undefined,
        size: count(row['size_bytes']),
        price: free,
      }),
    ];
  };

const fromLmStudio0 =
  ({ family }: Source, tells: boolean) =>
  (row: Raw): readonly ModelInfo[] => {
    const id = text(row['id']);
    if (id === undefined || row['type'] === 'embeddings') return [];
    return [
      filled<ModelInfo>({
        id,
        provider: family.name,
        tools: tells ? listed(row['capabilities'] ?? [], 'tool_use') : 'unknown',
        images: row['type'] === 'vlm',
        reasoning: 'unknown',
        contextWindow: count(row['loaded_context_length']) ?? count(row['max_context_length']),
        maxOutput: undefined,
        loaded: text(row['state']) === undefined ? undefined : row['state'] === 'loaded',
        size: undefined,
        price: free,
      }),
    ];
  };

/** Lemonade: labels say what a model can do, its health which are loaded and how; a listing without labels is a plain one. */
export async function listLemonade(source: Source): Promise<readonly ModelInfo[]> {
  const [own, health] = await Promise.all(
    ['models', 'health'].map((path) =>
      getJson({ ...source, url: `${root(source)}/api/v1/${path}` }).catch(() => undefined),
    ),
  );
  const models = rows(own, 'data');
  if (!models.some((row) => Array.isArray(row['labels']))) return listPlain(source);
  const tells = isObject(health) && Array.isArray(health['all_models_loaded']);
  const loaded = new Map(rows(health, 'all_models_loaded').map((row) => [text(row['model_name']), row]));
  return models.flatMap((row) => fromLemonade(row, source, tells ? loaded : undefined));
}

function fromLemonade(
  row: Raw,
  { family }: Source,
  loaded: ReadonlyMap<string | undefined, Raw> | undefined,
): readonly ModelInfo[] {
  const id = text(row['id']);
  const { labels } = row;
  const other = Array.isArray(labels) && labels.some((label) => /embed|rerank|transcri|tts|image|audio/.test(label));
  if (id === undefined || other || row['downloaded'] === false) return [];
  const running = loaded?.get(id)?.['recipe_options'] ?? row['recipe_options'];
  const options = isObject(running) ? running : {};
  const gigabytes = typeof row['size'] === 'number' ? row['size'] : 0;
  return [
    filled<ModelInfo>({
      id,
      provider: family.name,
      tools: listed(labels, 'tool-calling'),
      images: listed(labels, 'vision'),
      reasoning: listed(labels, 'reasoning'),
      contextWindow: count(options['ctx_size']) ?? count(row['max_context_window']) ?? count(row['context_length']),
      maxOutput: undefined,
      loaded: loaded?.has(id),
      size: count(Math.round(gigabytes * 1e9)),
      price: row['recipe'] === 'cloud' ? undefined : free,
    }),
  ];
}

/** llama.cpp: one model, whose template says whether it can call tools. */
export async function listLlamaCpp(source: Source): Promise<readonly ModelInfo[]> {
  const [props, models] = await Promise.all([
    getJson({ ...source, url: `${root(source)}/props` }).catch(() => undefined),
    getJson({ ...source, url: `${source.baseUrl}/models` }),
  ]);
  const about = isObject(props) ? props : {};
  const settings = isObject(about['default_generation_settings']) ? about['default_generation_settings'] : {};
  const caps = isObject(about['chat_template_caps']) ? about['chat_template_caps'] : {};
  const { chat_template: template } = about;
  const modalities = isObject(about['modalities']) ? about['modalities'] : {};
  return rows(models, 'data').flatMap((row, _, all) => {
    const id = text(row['id']);
    if (id === undefined || !talks(id)) return [];
    const meta = isObject(row['meta']) ? row['meta'] : {};
    // A router lists many models, and its properties are those of none of them.
    const only = all.length === 1;
    const tools = caps['supports_tools'] ?? (typeof template === 'string' ? /\btools\b/.test(template) : undefined);
    return [
      filled<ModelInfo>({
        id,
        provider: source.family.name,
        tools: only ? said(tools) : 'unknown',
        images: only ? said(modalities['vision']) : 'unknown',
        reasoning: 'unknown',
        contextWindow: (only ? count(settings['n_ctx']) : undefined) ?? count(meta['n_ctx_train']),
        maxOutput: undefined,
        loaded: only ? true : undefined,
        size: count(meta['size']),
        price: free,
      }),
    ];
  });
}

/** vLLM: the plain listing with the window it was started with. */
export async function listVllm(source: Source): Promise<readonly ModelInfo[]> {
  const models = await getJson({ ...source, url: `${source.baseUrl}/models` });
  return rows(models, 'data').flatMap((row) => {
    const id = text(row['id']);
    if (id === undefined || !talks(id)) return [];
    const contextWindow = count(row['max_model_len']);
    return [
      {
        ...knownModel(id),
        id,
        provider: source.family.name,
        ...(contextWindow === undefined ? {} : { contextWindow }),
        loaded: true,
        price: free,
      },
    ];
  });
}
