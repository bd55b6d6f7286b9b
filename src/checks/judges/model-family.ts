// Finds the family of a model from its name, so that models that share their errors do not count as independent.

/** The families by a pattern of the last part of a model's name; the first that matches counts. */
const namePatterns: readonly (readonly [string, RegExp])[] = [
  // A distilled model has the name of its teacher, and the errors of both: the name that comes first counts.
  ['deepseek', /^deepseek/],
  ['claude', /claude|^(?:opus|sonnet|haiku|fable)\b/],
  ['gpt', /^gpt|^chatgpt|^o[1-9](?:[-.:]|$)|^codex|^davinci/],
  ['gemini', /^gemini|^gemma|^palm|^codegemma/],
  ['llama', /llama|^vicuna|^alpaca|^codellama|^tinyllama/],
  ['qwen', /qwen|^qwq/],
  ['mistral', /mistral|mixtral|codestral|devstral|magistral|ministral|pixtral/],
  ['phi', /^phi-?\d/],
  ['grok', /^grok/],
  ['command', /^command|^c4ai|^aya/],
  ['glm', /glm/],
  ['kimi', /^kimi|^moonshot/],
  ['minimax', /minimax|^abab/],
  ['granite', /^granite/],
  ['nemotron', /nemotron/],
  ['nova', /^nova/],
  ['jamba', /^jamba/],
  ['yi', /^yi-/],
  ['olmo', /olmo|^tulu/],
  ['falcon', /^falcon/],
  ['hermes', /hermes/],
  ['smollm', /^smollm/],
  ['sonar', /^sonar/],
  ['seed', /^seed|^doubao/],
  ['ernie', /^ernie/],
  ['hunyuan', /^hunyuan/],
];

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

/** The family of a model whose name says nothing. All such models count as one family. */
export const unknownFamily = 'unknown';

/** Returns the family of a model, such as `claude` for `anthropic/claude-opus-4.8`: from its name, else from its provider, else `unknown`. */
export function getModelFamily(name: string, provider?: string): string {
  const parts = name.slice(0, 300).toLowerCase().split('/');
  const last = (parts.at(-1) ?? '').trim();
  for (const [family, pattern] of namePatterns) if (pattern.test(last)) return family;
  for (const part of [...parts.slice(0, -1).toReversed(), provider?.toLowerCase() ?? '']) {
    const family = Object.hasOwn(providerFamilies, part) ? providerFamilies[part] : undefined;
    if (family !== undefined) return family;
  }
  return unknownFamily;
}
