// Tests of model priors by name and URL: whether a model is local, and its assumed capability.
import assert from 'node:assert/strict';
import test from 'node:test';
import { keepsDataLocal } from '../data-locality.ts';
import { parseBillions, defaultQuality } from './model-priors.ts';

test('[P43] a model is local only if a known kind of server runs it on this machine or on a configured host', () => {
  const here = (provider: string, model: string, baseUrl?: string, own: readonly string[] = []): boolean =>
    keepsDataLocal({ provider, model, ...(baseUrl === undefined ? {} : { baseUrl }) }, {}, own);
  assert.equal(here('ollama', 'qwen3:8b'), true);
  assert.equal(here('embedded', 'tinyllama'), true);
  assert.equal(here('llama.cpp', 'x', 'http://127.0.0.1:9000/v1'), true);
  assert.equal(here('ollama', 'gpt-oss:120b-cloud'), false, 'Ollama forwards it to the cloud');
  assert.equal(here('openai-compatible', 'x', 'http://localhost:4000/v1'), false, 'a proxy may forward it');
  assert.equal(here('ollama', 'qwen3', 'http://gpu.example.com:11434'), false);
  assert.equal(here('ollama', 'qwen3', 'http://gpu.lan:11434', ['gpu.lan']), true);
  assert.equal(here('ollama', 'qwen3', 'http://localhost.example.com'), false);
  assert.equal(here('anthropic', 'claude-sonnet-5', 'http://localhost:1'), false);
  assert.equal(here('nobody', 'x', 'http://localhost:1'), false);
  assert.equal(
    keepsDataLocal({ provider: 'ollama', model: 'qwen3' }, { OLLAMA_HOST: 'https://elsewhere.example' }),
    false,
  );
});

test('[P75] the assumed capability grows with the size in the model name', () => {
  assert.deepEqual(['qwen3:8b', 'Qwen2.5-32B-Instruct', 'qwen3:0.6b', 'llama3', 'a3b', 'x-1.5b'].map(parseBillions), [
    8,
    32,
    0.6,
    undefined,
    undefined,
    1.5,
  ]);
  const trust = ['qwen3:0.6b', 'qwen3:8b', 'qwen3:14b', 'qwen3:32b', 'llama3.3:70b'].map((model) =>
    defaultQuality({ provider: 'ollama', model }),
  );
  assert.deepEqual(
    trust,
    trust.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(trust).size, trust.length);
  assert.ok(defaultQuality({ provider: 'anthropic', model: 'x' }) > 0.9);
});
