// Tests the warnings about a context that is large for a local model, or that fills fast.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createContextWarnings } from './context-warnings.ts';

const local = { provider: 'ollama', model: 'qwen3:8b' };

test('[P84] a local model above 32K tokens is a warning, once until the context is smaller again; a hosted one is not', () => {
  const warningsOf = createContextWarnings();
  assert.deepEqual(warningsOf({ ref: local, used: 32_768 }), []);
  const [warning = '', ...more] = warningsOf({ ref: local, used: 33_000 });
  assert.match(
    warning,
    /^The context has 33,000 tokens\. Above 32K tokens the answers of local models usually get worse/,
  );
  assert.deepEqual(more, []);
  assert.deepEqual(warningsOf({ ref: local, used: 40_000 }), []);
  assert.deepEqual(warningsOf({ ref: local, used: 9000 }), []);
  assert.equal(warningsOf({ ref: local, used: 33_000 }).length, 1);
  const hosted = createContextWarnings();
  assert.deepEqual(hosted({ ref: { provider: 'anthropic', model: 'claude-sonnet-5' }, used: 100_000 }), []);
  assert.deepEqual(hosted({ ref: { provider: 'ollama', model: 'gpt-oss:120b-cloud' }, used: 100_000 }), []);
});

test('[P74] a turn that adds more than a quarter of the window is a warning, once until half of the window is free', () => {
  const warningsOf = createContextWarnings();
  const after = (used: number): readonly string[] => warningsOf({ ref: local, used, window: 8000 });
  assert.deepEqual(after(3000), [], 'the first turn has the system prompt');
  assert.deepEqual(after(4500), []);
  const [warning = ''] = after(7000);
  assert.match(warning, /the last turn added 2,500 tokens, 31% of the window of 8,000\. .* limits\.tokens/);
  assert.deepEqual(after(9500), []);
  assert.deepEqual(after(3000), []);
  assert.equal(after(6000).length, 1);
  assert.deepEqual(createContextWarnings()({ ref: local, used: 7000 }), [], 'the window is unknown');
});
