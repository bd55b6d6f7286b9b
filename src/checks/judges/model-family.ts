// Finds the family of a model from its name, so that models that share their errors do not count as independent.

/** Models that were trained on others, whose base or teacher the name does not say. */
const derivedModels =
  /distill|(?<![a-z])(?:hermes|openhermes|tulu|dolphin|wizardlm|zephyr|starling|orca|vicuna|alpaca|nous)(?![a-z])|^deepseek-r1:(?:1\.5|7|8|14|32|70)b/;

/** The families by a word of the last part of a model's name; the first that occurs counts. A name may have a prefix, such as that of a deployment. */
const familyWords: readonly (readonly [string, string])[] = [
  ['deepseek', 'deepseek'],
  ['claude', 'claude|opus|sonnet|haiku|fable'],
  ['gpt', 'gpt|chatgpt|o[1-9](?![0-9a-z])|codex|davinci'],
  ['gemini', 'gemini|gemma|palm|codegemma'],
  ['llama', 'llama|codellama|tinyllama'],
  ['qwen', 'qwen|qwq'],
  ['mistral', 'mistral|mixtral|codestral|devstral|magistral|ministral|pixtral'],
  ['phi', 'phi-?[0-9]'],
  ['grok', 'grok'],
  ['command', 'command|c4ai|aya'],
  ['glm', 'glm|chatglm'],
  ['kimi', 'kimi|moonshot'],
  ['minimax', 'minimax|abab'],
  ['granite', 'granite'],
  ['nemotron', 'nemotron'],
  ['nova', 'nova'],
  ['jamba', 'jamba'],
  ['yi', 'yi(?=-)'],
  ['olmo', 'olmo'],
  ['falcon', 'falcon'],
  ['smollm', 'smollm'],
  ['sonar', 'sonar'],
  ['seed', 'seed|doubao'],
  ['ernie', 'ernie'],
  ['hunyuan', 'hunyuan'],
];

const namePatterns: readonly (readonly [string, RegExp])[] = familyWords.map(([family, words]) => [
  family,
  new RegExp(`(?<![a-z0-9])(?:${words})`),
]);

/** The families of providers that offer only models of their own. */
const providerFamilies: Readonly<Record<string, string>> = {
  anthropic: 'claude',
  openai: 'gpt',
  google: 'gemini',
  gemini: 'gemini',
  mistral: 'mistral',
  deepseek: 'deepseek',
  xai: 'grok',
  cohere: 'command',
  moonshot: 'kimi',
  moonshotai: 'kimi',
  zai: 'glm',
  zhipu: 'glm',
  minimax: 'minimax',
  perplexity: 'sonar',
  qwen: 'qwen',
  alibaba: 'qwen',
  'meta-llama': 'llama',
  meta: 'llama',
  'x-ai': 'grok',
  'z-ai': 'glm',
  mistralai: 'mistral',
};

/** The family of a model whose name does not say it. Such a model does not vote: it may be of the family of the author. */
export const unknownFamily = 'unknown';

/** Returns the family of a model, such as `claude` for `anthropic/claude-opus-4.8`: from its name, else from its provider, else `unknown`. */
export function getModelFamily(name: string, provider?: string): string {
  const parts = name.slice(0, 300).toLowerCase().split('/');
  const last = (parts.at(-1) ?? '').trim();
  if (derivedModels.test(last)) return unknownFamily;
  for (const [family, pattern] of namePatterns) if (pattern.test(last)) return family;
  for (const part of [...parts.slice(0, -1).toReversed(), provider?.toLowerCase() ?? '']) {
    const family = Object.hasOwn(providerFamilies, part) ? providerFamilies[part] : undefined;
    if (family !== undefined) return family;
  }
  return unknownFamily;
}
