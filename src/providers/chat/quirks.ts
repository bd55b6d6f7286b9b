// Where servers that speak chat completions differ, as data: one row a family, and the user's own word on top.
import type { Sight } from '../wire/pictures.ts';

/** How one server wants what all others want otherwise. */
export type ChatQuirks = {
  /** Asks for token counts in the stream; off for servers that refuse the wish. */
  readonly usage: boolean;
  readonly maxTokens: 'max_tokens' | 'max_completion_tokens';
  /** How an answer is held to a schema; with less than `json_schema` the schema is told in the system text. */
  readonly schema: 'json_schema' | 'json_object' | 'none';
  /** Whether a schema for the answer and tools may be in one request. */
  readonly schemaWithTools: boolean;
  readonly seed: 'seed' | 'random_seed';
  /** The word that forces a tool call. */
  readonly required: 'required' | 'any';
  /** Where the wish for more or less thinking goes. */
  readonly effort: 'reasoning_effort' | 'reasoning' | 'thinking' | 'none';
  /** What of its own thinking a model is shown again. */
  readonly thoughts: 'none' | 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'chunks';
  /** Whether a user's message may follow tool results directly. */
  readonly userAfterTool: boolean;
  /** Whether the model sees pictures. */
  readonly images: Sight;
  /** How a server is told what to keep cached. */
  readonly cache: 'none' | 'prompt_cache_key' | 'cache_control';
  /** The role that carries the system text. */
  readonly system: 'system' | 'developer' | 'user';
};

const usual: ChatQuirks = {
  usage: true,
  maxTokens: 'max_tokens',
  schema: 'json_schema',
  schemaWithTools: true,
  seed: 'seed',
  required: 'required',
  effort: 'reasoning_effort',
  thoughts: 'none',
  userAfterTool: true,
  images: 'unknown',
  cache: 'none',
  system: 'system',
};

const byFamily: Readonly<Record<string, Partial<ChatQuirks>>> = {
  openai: { maxTokens: 'max_completion_tokens', cache: 'prompt_cache_key' },
  groq: { maxTokens: 'max_completion_tokens', schemaWithTools: false },
  cerebras: { maxTokens: 'max_completion_tokens', schemaWithTools: false },
  mistral: { usage: false, seed: 'random_seed', required: 'any', thoughts: 'chunks', userAfterTool: false },
  deepseek: { schema: 'json_object', effort: 'thinking', thoughts: 'reasoning_content' },
  openrouter: { effort: 'reasoning', thoughts: 'reasoning_details' },
};

/** The quirks of a family's model, with what the user knows better. */
export function quirksOf(family: string, model: string, own: Partial<ChatQuirks> = {}): ChatQuirks {
  const marked: Partial<ChatQuirks> =
    family === 'openrouter' && model.startsWith('anthropic/') ? { cache: 'cache_control' } : {};
  return { ...usual, ...byFamily[family], ...marked, ...own };
}
