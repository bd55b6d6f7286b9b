// Limits: the defaults, and refused values.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FairleadError } from '../core/index.ts';
import { says, scriptedProvider } from '../testing/index.ts';
import { defaultLimits, resolveLimits } from './index.ts';

const provider = scriptedProvider([says('hi')]);

test('requested limits replace the defaults, and a known context window leaves space for the answer', () => {
  assert.deepEqual(resolveLimits(provider, { turns: 3, usd: 1 }), { ...defaultLimits, turns: 3, usd: 1 });
  assert.equal(resolveLimits({ ...provider, contextWindow: 1000 }).context, 900);
  assert.equal(resolveLimits({ ...provider, contextWindow: 1000 }, { context: 100 }).context, 100);
});

test('a limit that is not a number is refused with one sentence, because the log cannot store it', () => {
  for (const usd of [Number.NaN, Number.POSITIVE_INFINITY, -1])
    assert.throws(
      () => resolveLimits(provider, { usd }),
      (error) => error instanceof FairleadError && error.code === 'harness/bad-option',
    );
});
