// A model of the Hugging Face hub as an embedded model: described by the metadata of the hub before the download, and by its own header after it. The description is kept beside the weights, so that the next start needs no hub.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FairleadError } from '../../core/index.ts';
import { detectTemplate, type DetectedTemplate } from './chat-templates.ts';
import { hasWeights, weightsFile } from './download-weights.ts';
import { readGgufHeader, type GgufHeader } from './gguf-header.ts';
import { formatHubAddress, parseHubAddress } from './hub-address.ts';
import { fetchHubFile, type HubFile, type HubOptions } from './hub.ts';
import { resolveEmbeddedModel, tinyllama, type EmbeddedModel } from './models.ts';

/** The max context window: memory and reading time grow with it. */
export const maxHubContextWindow = 8192;

/** The context window of a model that states none. */
const defaultContextWindow = 4096;

/** Returns the model of an address if it is on this machine; nothing is requested. */
export async function findDownloadedModel(name: string, directory: string): Promise<EmbeddedModel | undefined> {
  const kept = await readRecord(recordFile(directory, formatHubAddress(parseHubAddress(name))));
  return kept && (await hasWeights(directory, kept)) ? kept : undefined;
}

/** Asks the hub for the description of a model. */
export const fetchHubModel = async (name: string, options: HubOptions): Promise<EmbeddedModel> =>
  describeHubFile(await fetchHubFile(parseHubAddress(name), options));

/** Describes a file of the hub. A chat template that cannot be used is an error before the download, if the hub states it. */
export function describeHubFile(file: HubFile): EmbeddedModel {
  const name = file.path.slice(file.path.lastIndexOf('/') + 1, -'.gguf'.length).replaceAll(/[^\w.-]/g, '-');
  const found = file.chatTemplate === undefined ? undefined : requireTemplate(file.chatTemplate, name);
  return resolveEmbeddedModel({
    name: /^\w/.test(name) ? name : `model-${name}`,
    license: file.license,
    parts: [{ url: file.url, bytes: file.bytes }],
    bytes: file.bytes,
    sha256: file.sha256,
    ...describeBehavior(`${name} of ${file.repo}`, file, found),
  });
}

/** Completes the description from the verified file, and keeps it for later starts. */
export async function finishHubModel(
  name: string,
  directory: string,
  described: EmbeddedModel,
  signal?: AbortSignal,
): Promise<EmbeddedModel> {
  const file = recordFile(directory, formatHubAddress(parseHubAddress(name)));
  const kept = await readRecord(file);
  if (kept?.sha256 === described.sha256) return kept;
  const {
    propertyFill: _fill,
    copiesValues: _copies,
    maxCallsPerMessage: _calls,
    toolFormat: _format,
    ...base
  } = described;
  const title = `${described.name} of ${parseHubAddress(name).repo}`;
  const weights = weightsFile(directory, described);
  const model = await readFinishedModel(weights, base, title, signal);
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${JSON.stringify(model, undefined, 2)}\n`, { mode: 0o600 });
  return model;
}

/** Completes the description from the file itself. A file that cannot be used is deleted: it would only take room. */
async function readFinishedModel(
  file: string,
  base: Omit<EmbeddedModel, keyof ModelBehavior>,
  title: string,
  signal: AbortSignal | undefined,
): Promise<EmbeddedModel> {
  try {
    const header = await readGgufHeader(file, signal);
    const behavior = describeBehavior(title, header, requireTemplate(header.chatTemplate, base.name));
    return resolveEmbeddedModel({ ...base, ...behavior });
  } catch (error) {
    if (signal?.aborted !== true) await rm(file, { force: true });
    throw error;
  }
}

type ModelBehavior = Pick<EmbeddedModel, 'description' | 'contextWindow' | 'template'> &
  Partial<Pick<EmbeddedModel, 'toolFormat' | 'propertyFill' | 'copiesValues' | 'maxCallsPerMessage'>>;

const { propertyFill = 'required', copiesValues = true, maxCallsPerMessage = 1 } = tinyllama;

/** A model with a tool format calls tools freely; another one has the limits of the smallest model. */
function describeBehavior(
  title: string,
  { contextLength = defaultContextWindow }: Pick<GgufHeader, 'contextLength'>,
  found: DetectedTemplate | undefined,
): ModelBehavior {
  const tools = found && (found.toolFormat ? 'reads and edits files and runs commands' : 'reads files');
  return {
    description: `${title} runs on this machine${tools === undefined ? '' : `; it ${tools}`}.`,
    contextWindow: Math.min(contextLength, maxHubContextWindow),
    template: found?.template ?? 'chatml',
    ...(found?.toolFormat === undefined
      ? { propertyFill, copiesValues, maxCallsPerMessage }
      : { toolFormat: found.toolFormat }),
  };
}

function requireTemplate(jinja: string | undefined, name: string): DetectedTemplate {
  const found = jinja === undefined ? undefined : detectTemplate(jinja);
  if (found) return found;
  throw new FairleadError(
    'embedded/unsupported',
    jinja === undefined
      ? `${name} has no chat template, so it cannot hold a conversation.`
      : `${name} has a chat template that is not supported.`,
    {
      blame: 'user',
      hint: 'Supported are the templates of Qwen, SmolLM, Llama 3, Gemma 2 and 3, Zephyr and models that use the same ones. Run this model with Ollama or llama.cpp instead.',
    },
  );
}

const recordFile = (directory: string, address: string): string =>
  path.join(directory, 'models', 'hf', `${encodeURIComponent(address)}.json`);

async function readRecord(file: string): Promise<EmbeddedModel | undefined> {
  try {
    return resolveEmbeddedModel(JSON.parse(await readFile(file, 'utf8')) as EmbeddedModel);
  } catch {
    return undefined;
  }
}
