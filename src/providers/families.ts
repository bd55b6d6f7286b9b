// The provider table: protocol (wire format), address and API key variables of each provider family. registry.ts opens them.

/** The protocol of a provider, which is the wire format of its requests and responses. */
export type ProviderProtocol = 'anthropic' | 'openai' | 'google' | 'chat' | 'ollama' | 'embedded';

/** A provider family. */
export type ProviderFamily = {
  readonly name: string;
  readonly protocol: ProviderProtocol;
  /** The default address. */
  readonly baseUrl: string;
  /** Environment variables for the address; the first that is set wins. */
  readonly urlVariables: readonly string[];
  /** Environment variables for the API key. */
  readonly keyVariables: readonly string[];
  /** The company that receives the requests; absent for a server of the user. */
  readonly vendor?: string;
  /** It runs on the user's machine: no key is needed. */
  readonly local: boolean;
  /** Tokens are free. A local address alone does not imply this: a proxy can forward to a paid service. */
  readonly free: boolean;
  /** The default path of an address without a path. */
  readonly defaultPath: string;
  /** A model name for examples. */
  readonly exampleModel: string;
};

const hostedFamily = (
  name: string,
  protocol: ProviderProtocol,
  baseUrl: string,
  keyVariables: readonly string[],
  example: string,
  vendor: string,
): ProviderFamily => ({
  name,
  protocol,
  vendor,
  baseUrl,
  urlVariables: [`${envPrefix(name)}_BASE_URL`],
  keyVariables,
  local: false,
  free: false,
  defaultPath: '',
  exampleModel: example,
});

const localFamily = (
  name: string,
  protocol: ProviderProtocol,
  baseUrl: string,
  path: string,
  example: string,
  urlVariables: readonly string[] = [],
): ProviderFamily => ({
  name,
  protocol,
  baseUrl,
  urlVariables: [...urlVariables, `${envPrefix(name)}_BASE_URL`],
  keyVariables: [`${envPrefix(name)}_API_KEY`],
  local: true,
  free: name !== 'openai-compatible',
  defaultPath: path,
  exampleModel: example,
});

const envPrefix = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z]/g, '_');

/** All providers, those with API keys first. */
export const families: readonly ProviderFamily[] = [
  hostedFamily(
    'anthropic',
    'anthropic',
    'https://api.anthropic.com/v1',
    ['ANTHROPIC_API_KEY'],
    'claude-sonnet-4-5',
    'Anthropic',
  ),
  hostedFamily('openai', 'openai', 'https://api.openai.com/v1', ['OPENAI_API_KEY'], 'gpt-5.5', 'OpenAI'),
  hostedFamily(
    'google',
    'google',
    'https://generativelanguage.googleapis.com/v1beta',
    ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    'gemini-2.5-flash',
    'Google',
  ),
  hostedFamily(
    'openrouter',
    'chat',
    'https://openrouter.ai/api/v1',
    ['OPENROUTER_API_KEY'],
    'anthropic/claude-sonnet-4.5',
    'OpenRouter',
  ),
  hostedFamily('groq', 'chat', 'https://api.groq.com/openai/v1', ['GROQ_API_KEY'], 'openai/gpt-oss-120b', 'Groq'),
  hostedFamily(
    'mistral',
    'chat',
    'https://api.mistral.ai/v1',
    ['MISTRAL_API_KEY'],
    'mistral-medium-latest',
    'Mistral AI',
  ),
  hostedFamily('deepseek', 'chat', 'https://api.deepseek.com/v1', ['DEEPSEEK_API_KEY'], 'deepseek-v4-pro', 'DeepSeek'),
  hostedFamily('cerebras', 'chat', 'https://api.cerebras.ai/v1', ['CEREBRAS_API_KEY'], 'gpt-oss-120b', 'Cerebras'),
  hostedFamily(
    'huggingface',
    'chat',
    'https://router.huggingface.co/v1',
    ['HF_TOKEN', 'HUGGINGFACE_API_KEY'],
    'meta-llama/Llama-3.3-70B-Instruct',
    'Hugging Face',
  ),
  localFamily('ollama', 'ollama', 'http://localhost:11434', '', 'qwen3:8b', ['OLLAMA_API_URL', 'OLLAMA_HOST']),
  localFamily('lm-studio', 'chat', 'http://localhost:1234/v1', '/v1', 'qwen/qwen3-8b'),
  localFamily('lemonade', 'chat', 'http://localhost:8000/api/v1', '/api/v1', 'Qwen3-8B-GGUF', ['LEMONADE_API_BASE']),
  localFamily('llama.cpp', 'chat', 'http://localhost:8080/v1', '/v1', 'default'),
  localFamily('vllm', 'chat', 'http://localhost:8000/v1', '/v1', 'Qwen/Qwen3-8B'),
  localFamily('openai-compatible', 'chat', 'http://localhost:5000/v1', '/v1', 'default'),
  localFamily('embedded', 'embedded', '', '', 'tinyllama'),
];

/** Aliases of providers. */
export const providerAliases: { readonly [name: string]: string } = {
  claude: 'anthropic',
  gemini: 'google',
  hf: 'huggingface',
  lmstudio: 'lm-studio',
  'llama-cpp': 'llama.cpp',
  llamacpp: 'llama.cpp',
  proxy: 'openai-compatible',
};

/** Finds a provider by name or alias, ignoring case. */
export function findFamily(name: string): ProviderFamily | undefined {
  const lower = name.toLowerCase();
  const real = Object.hasOwn(providerAliases, lower) ? providerAliases[lower] : lower;
  return families.find((family) => family.name === real);
}

/** Returns true if tokens of this family are free. */
export const isFreeFamily = (name: string): boolean => findFamily(name)?.free ?? false;
