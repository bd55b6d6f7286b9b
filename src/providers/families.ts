// The table of names: which provider speaks which dialect, where it is found, and where its key is kept.

/** How a provider is spoken to. */
export type Dialect = 'anthropic' | 'openai' | 'google' | 'chat' | 'ollama' | 'embedded';

/** A provider that can be named. */
export type Family = {
  readonly name: string;
  readonly dialect: Dialect;
  /** Where it is, unless told otherwise. */
  readonly baseUrl: string;
  /** Variables that say where it is, the first that is set counting. */
  readonly urlVariables: readonly string[];
  /** Variables that hold its key. */
  readonly keyVariables: readonly string[];
  /** It runs on a machine of yours: no key is needed. */
  readonly local: boolean;
  /** No token costs anything. A local address alone does not say so: a proxy may pass requests on to someone who is paid. */
  readonly free: boolean;
  /** The path that an address without one stands for. */
  readonly path: string;
  /** A model to show in examples. */
  readonly example: string;
};

const remote = (
  name: string,
  dialect: Dialect,
  baseUrl: string,
  keyVariables: readonly string[],
  example: string,
): Family => ({
  name,
  dialect,
  baseUrl,
  urlVariables: [`${prefix(name)}_BASE_URL`],
  keyVariables,
  local: false,
  free: false,
  path: '',
  example,
});

const local = (
  name: string,
  dialect: Dialect,
  baseUrl: string,
  path: string,
  example: string,
  urlVariables: readonly string[] = [],
): Family => ({
  name,
  dialect,
  baseUrl,
  urlVariables: [...urlVariables, `${prefix(name)}_BASE_URL`],
  keyVariables: [`${prefix(name)}_API_KEY`],
  local: true,
  free: name !== 'openai-compatible',
  path,
  example,
});

const prefix = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z]/g, '_');

/** Every provider that has a name, the ones reached by a key first. */
export const families: readonly Family[] = [
  remote('anthropic', 'anthropic', 'https://api.anthropic.com/v1', ['ANTHROPIC_API_KEY'], 'claude-sonnet-4-5'),
  remote('openai', 'openai', 'https://api.openai.com/v1', ['OPENAI_API_KEY'], 'gpt-5.5'),
  remote(
    'google',
    'google',
    'https://generativelanguage.googleapis.com/v1beta',
    ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    'gemini-2.5-flash',
  ),
  remote('openrouter', 'chat', 'https://openrouter.ai/api/v1', ['OPENROUTER_API_KEY'], 'anthropic/claude-sonnet-4.5'),
  remote('groq', 'chat', 'https://api.groq.com/openai/v1', ['GROQ_API_KEY'], 'openai/gpt-oss-120b'),
  remote('mistral', 'chat', 'https://api.mistral.ai/v1', ['MISTRAL_API_KEY'], 'mistral-medium-latest'),
  remote('deepseek', 'chat', 'https://api.deepseek.com/v1', ['DEEPSEEK_API_KEY'], 'deepseek-v4-pro'),
  remote('cerebras', 'chat', 'https://api.cerebras.ai/v1', ['CEREBRAS_API_KEY'], 'gpt-oss-120b'),
  remote(
    'huggingface',
    'chat',
    'https://router.huggingface.co/v1',
    ['HF_TOKEN', 'HUGGINGFACE_API_KEY'],
    'meta-llama/Llama-3.3-70B-Instruct',
  ),
  local('ollama', 'ollama', 'http://localhost:11434', '', 'qwen3:8b', ['OLLAMA_API_URL', 'OLLAMA_HOST']),
  local('lm-studio', 'chat', 'http://localhost:1234/v1', '/v1', 'qwen/qwen3-8b'),
  local('lemonade', 'chat', 'http://localhost:8000/api/v1', '/api/v1', 'Qwen3-8B-GGUF', ['LEMONADE_API_BASE']),
  local('llama.cpp', 'chat', 'http://localhost:8080/v1', '/v1', 'default'),
  local('vllm', 'chat', 'http://localhost:8000/v1', '/v1', 'Qwen/Qwen3-8B'),
  local('openai-compatible', 'chat', 'http://localhost:5000/v1', '/v1', 'default'),
  local('embedded', 'embedded', '', '', 'tinyllama'),
];

/** Other names for the same providers. */
export const aliases: { readonly [name: string]: string } = {
  claude: 'anthropic',
  gemini: 'google',
  hf: 'huggingface',
  lmstudio: 'lm-studio',
  'llama-cpp': 'llama.cpp',
  llamacpp: 'llama.cpp',
  proxy: 'openai-compatible',
};

/** The provider of this name or alias, in any case. */
export function familyOf(name: string): Family | undefined {
  const lower = name.toLowerCase();
  const real = Object.hasOwn(aliases, lower) ? aliases[lower] : lower;
  return families.find((family) => family.name === real);
}

/** Whether a family takes no money for tokens. */
export const isFree = (name: string): boolean => familyOf(name)?.free ?? false;
