// Where servers that speak chat completions differ, as data: one row a family, and the user's own word on top.
import type { ImageSupport } from '../http/images.ts';

/** How one server wants what all others want otherwise. */
export type ChatCompat = {
  /** Asks for token counts in the stream; off for servers that refuse the wish. */
  readonly includeUsage: boolean;
  readonly maxTokens: 'max_tokens' | 'max_completion_tokens';
  /** How an answer is held to a schema; with less than `json_schema` the schema is told in the system text. */
  readonly schema: 'json_schema' | 'json_object' | 'none';
  /** Whether a schema for the answer and tools may be in one request. */
  readonly schemaWithTools: boolean;
  readonly seed: 'seed' | 'random_seed';
  /** The word that forces a tool call. */
  readonly requiredChoice: 'required' | 'any';
  /** Where the wish for more or less thinking goes. */
  readonly effortField: 'reasoning_effort' | 'reasoning' | 'thinking' | 'none';
  /** What of its own thinking a model is shown again. */
  readonly reasoningField: 'none' | 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'chunks';
  /** Whether a user's message may follow tool results directly. */
  readonly userAfterTool: boolean;
  /** Whether the model sees pictures. */
  readonly images: ImageSupport;
  /** How a server is told what to keep cached. */
  readonly promptCache: 'none' | 'prompt_cache_key' | 'cache_control';
  /** The role that carries the system text. */
  readonly systemRole: 'system' | 'developer' | 'user';
};

const defaultCompat: ChatCompat = {
  includeUsage: true,
  maxTokens: 'max_tokens',
  schema: 'json_schema',
  schemaWithTools: true,
  seed: 'seed',
  requiredChoice: 'required',
  effortField: 'reasoning_effort',
  reasoningField: 'none',
  userAfterTool: true,
  images: 'unknown',
  promptCache: 'none',
  systemRole: 'system',
};

const compatByFamily: Readonly<Record<string, Partial<ChatCompat>>> = {
  openai: { maxTokens: 'max_completion_tokens', promptCache: 'prompt_cache_key' },
  groq: { maxTokens: 'max_completion_tokens', schemaWithTools: false },
  cerebras: { maxTokens: 'max_completion_tokens', schemaWithTools: false },
  mistral: {
    includeUsage: false,
    seed: 'random_seed',
    requiredChoice: 'any',
    reasoningField: 'chunks',
    userAfterTool: false,
  },
  deepseek: { schema: 'json_object', effortField: 'thinking', reasoningField: 'reasoning_content' },
  openrouter: { effortField: 'reasoning', reasoningField: 'reasoning_details' },
};

/** The quirks of a family's model, with what the user knows better. */
export function chatCompatFor(family: string, model: string, own: Partial<ChatCompat> = {}): ChatCompat {
  const marked: Partial<ChatCompat> =
    family === 'openrouter' && model.startsWith('anthropic/') ? { promptCache: 'cache_control' } : {};
  return { ...defaultCompat, ...compatByFamily[family], ...marked, ...own };
}
