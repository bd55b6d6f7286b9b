// Differences between servers with chat completions, as a table by family; the user's settings override it.
import type { ImageSupport } from '../http/encode-messages.ts';

/** Compatibility settings of a server. */
export type ChatCompat = {
  /** Requests token counts in the stream; off for servers that reject the field. */
  readonly includeUsage: boolean;
  readonly maxTokens: 'max_tokens' | 'max_completion_tokens';
  /** How a response schema is sent; unless `json_schema`, the schema is also in the system text. */
  readonly schema: 'json_schema' | 'json_object' | 'none';
  /** Whether a request may have a response schema and tools. */
  readonly schemaWithTools: boolean;
  readonly seed: 'seed' | 'random_seed';
  /** The value of `tool_choice` that forces a tool call. */
  readonly requiredChoice: 'required' | 'any';
  /** The field of the reasoning effort. */
  readonly effortField: 'reasoning_effort' | 'reasoning' | 'thinking' | 'none';
  /** The field in which the model's reasoning is sent back. */
  readonly reasoningField: 'none' | 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'chunks';
  /** Whether a user message may directly follow tool results. */
  readonly userAfterTool: boolean;
  /** Whether the model accepts images. */
  readonly images: ImageSupport;
  /** The field that enables prompt caching. */
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

/** Returns the compatibility settings of a model; `overrides` come last. */
export function chatCompatFor(family: string, model: string, overrides: Partial<ChatCompat> = {}): ChatCompat {
  const caching: Partial<ChatCompat> =
    family === 'openrouter' && model.startsWith('anthropic/') ? { promptCache: 'cache_control' } : {};
  return { ...defaultCompat, ...compatByFamily[family], ...caching, ...overrides };
}
