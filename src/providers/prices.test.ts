// Tests of prices by model name, and of monthly costs.
import assert from 'node:assert/strict';
import test from 'node:test';
import { blendedPrice, electricityCost, estimatePayback, monthlyCost, paybackMonths } from './monthly-cost.ts';
import { responseCost, priceOf } from './prices.ts';

const formatPrice = (family: string, model: string): string | undefined => {
  const price = priceOf(family, model);
  return price && `${price.input}/${price.output}`;
};

test('[P10, P11] the models of the examples have their published price, for every spelling of the version', () => {
  assert.equal(formatPrice('anthropic', 'claude-sonnet-4'), '3/15');
  assert.equal(formatPrice('openai', 'gpt-4o'), '2.5/10');
  assert.equal(formatPrice('google', 'gemini-2-0-flash'), '0.1/0.4');
  assert.equal(formatPrice('google', 'gemini-2.0-flash'), '0.1/0.4');
  assert.equal(formatPrice('ollama', 'qwen2.5:27b'), '0/0');
  assert.equal(formatPrice('huggingface', 'meta-llama/Llama-3-70b'), undefined);
});

test('[A7] the live models have prices', () => {
  assert.equal(formatPrice('anthropic', 'claude-opus-4.8'), '5/25');
  assert.equal(formatPrice('google', 'gemini-3.1-pro-preview'), '2/12');
  assert.equal(formatPrice('openai', 'gpt-5.5'), '5/30');
});

test('a dated name finds the plain one; another model with a longer name does not', () => {
  assert.equal(formatPrice('anthropic', 'claude-sonnet-4-20250514'), '3/15');
  assert.equal(formatPrice('anthropic', 'claude-sonnet-4-5@20250929'), '3/15');
  assert.equal(formatPrice('openai', 'gpt-4o-2024-11-20'), '2.5/10');
  assert.equal(formatPrice('openai', 'gpt-4o-2024-05-13'), '5/15', 'a dated name with its own price');
  assert.equal(formatPrice('openai', 'gpt-4o-mini-2024-07-18'), '0.15/0.6');
  assert.equal(formatPrice('google', 'models/gemini-2.5-flash-preview-09-2025'), '0.3/2.5');
  for (const stranger of ['gpt-5.7', 'gpt-5-9-mini', 'gpt-4o-audio-preview', 'claude-sonnet-4-9', 'toString', ''])
    assert.equal(formatPrice(stranger.startsWith('claude') ? 'anthropic' : 'openai', stranger), undefined, stranger);
});

test('[P11] local models are free; the price of a proxy or an unknown provider is unknown', () => {
  for (const family of ['ollama', 'lm-studio', 'lemonade', 'llama.cpp', 'vllm', 'embedded'])
    assert.deepEqual(formatPrice(family, 'anything'), '0/0', family);
  assert.equal(formatPrice('ollama', 'gpt-oss:120b-cloud'), undefined, 'not on this machine');
  for (const family of ['openai-compatible', 'groq', 'nobody', 'constructor'])
    assert.equal(formatPrice(family, 'gpt-4o'), undefined, family);
});

test('a configured price overrides every other, by provider and model or by model only', () => {
  const own = { 'groq/llama': { input: 1, output: 2 }, 'gpt-4o': { input: 9, output: 9 } };
  assert.equal(priceOf('groq', 'llama', own)?.input, 1);
  assert.equal(priceOf('openai', 'gpt-4o-2024-11-20', own)?.input, 9);
  assert.equal(priceOf('mistral', 'llama', own), undefined);
});

test('[A57] cached tokens and long prompts are charged at their own prices', () => {
  const sonnet = { family: 'anthropic', model: 'claude-sonnet-4' };
  const usage = { input: 1_000_000, output: 0, cacheRead: 600_000, cacheWrite: 400_000 };
  assert.equal(responseCost(sonnet, 'claude-sonnet-4', usage), 0.6 * 0.3 + 0.4 * 3.75);
  const gemini = { family: 'google', model: 'gemini-2.5-pro' };
  const cost = (input: number): number | undefined => responseCost(gemini, gemini.model, { input, output: 0 });
  assert.equal(cost(200_000), 0.25);
  assert.equal(cost(400_000), 1);
});

test('[A57] missing or impossible counts leave the cost unknown', () => {
  const model = { family: 'openai', model: 'gpt-4o', price: { input: 1, output: 1 } };
  for (const usage of [{}, { input: 5 }, { input: -5, output: 3 }, { input: 1e12, output: 3 }])
    assert.equal(responseCost(model, 'gpt-4o', usage), undefined, JSON.stringify(usage));
});

test('[A57] a configured price of a model applies to its dated names, not to the answer of another model', () => {
  const mine = { family: 'openai', model: 'gpt-4o', price: { input: 1, output: 1 } };
  const usage = { input: 1_000_000, output: 0 };
  assert.equal(responseCost(mine, 'gpt-4o-2024-11-20', usage), 1);
  assert.equal(responseCost(mine, 'gpt-4o-mini', usage), 0.15);
  assert.equal(
    responseCost(mine, 'who-knows.gguf', usage),
    1,
    'the requested model, if the answer names an unknown one',
  );
});

test('[P35] a month at two million tokens: cloud, local and hybrid', () => {
  const month = { tokens: 2_000_000, usdPerMillion: 30 };
  assert.equal(monthlyCost(month).cloud, 60);
  assert.deepEqual([monthlyCost(month).local, monthlyCost({ ...month, electricityUsd: 20 }).local], [0, 20]);
  assert.equal(monthlyCost({ ...month, localShare: 0.5 }).hybrid, 30);
  assert.ok(Math.abs(monthlyCost({ ...month, localShare: 0.8 }).hybrid - 12) < 1e-9);
});

test('[P36] a machine for $1,500 pays for itself after 7.5 to 10 months, or never', () => {
  assert.equal(paybackMonths(1500, 200), 7.5);
  assert.equal(paybackMonths(1500, 150), 10);
  assert.equal(paybackMonths(1500, 10, 15), Number.POSITIVE_INFINITY);
});

test('[P83, P85] electricity is part of the local cost, and the profit is computed for a lifespan of 3 to 5 years', () => {
  assert.equal(electricityCost().toFixed(2), '10.13');
  assert.equal(electricityCost({ watts: 1000, hoursPerDay: 1, usdPerKwh: 1 }), 30);
  assert.deepEqual(estimatePayback({ hardwareUsd: 1500, cloudUsd: 160, electricityUsd: 10 }), {
    months: 10,
    profits: [
      { years: 3, usd: 3900 },
      { years: 5, usd: 7500 },
    ],
  });
  const never = estimatePayback({ hardwareUsd: 1500, cloudUsd: 5, electricityUsd: 10, lifespanYears: [4] });
  assert.deepEqual(never, { months: undefined, profits: [{ years: 4, usd: -1740 }] });
});

test('[P11] prices of input and output blend by the share of output', () => {
  assert.equal(blendedPrice({ input: 3, output: 15 }, 0), 3);
  assert.equal(blendedPrice({ input: 3, output: 15 }, 0.5), 9);
});
