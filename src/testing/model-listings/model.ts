// The properties of a model that listings of services and servers can contain.

/** A model in the listings. */
export type ListedModel = {
  readonly id: string;
  /** The maximum context window of the model in tokens. */
  readonly context?: number;
  /** The context window as the model is loaded now; a local server often loads less than the maximum. */
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

/** The service whose fields a listing in OpenAI's format has. */
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
