// A model as the lists of all services and servers can tell of it.

/** A model in the listings. */
export type ListedModel = {
  readonly id: string;
  /** Tokens the model can take. */
  readonly context?: number;
  /** Tokens it can take as it is loaded now; a local server often loads less than the model could. */
  readonly loaded?: number;
  readonly tools?: boolean;
  readonly images?: boolean;
  readonly reasoning?: boolean;
  readonly embedding?: boolean;
  /** US dollars per million tokens. */
  readonly price?: { readonly input: number; readonly output: number };
  /** The parameters of an Ollama model file, for example `num_ctx 8192`. */
  readonly parameters?: string;
};

/** Whose fields a listing in the shape of OpenAI's has. */
export type ListingStyle =
  | 'openai'
  | 'groq'
  | 'mistral'
  | 'openrouter'
  | 'huggingface'
  | 'lm-studio'
  | 'lemonade'
  | 'llama.cpp'
  | 'vllm';
