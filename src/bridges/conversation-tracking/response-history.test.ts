// The cache of response histories is bounded, in number and in size.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Message } from '../../core/index.ts';
import { createResponseHistoryCache } from './response-history.ts';

const picture: Message = {
  role: 'user',
  parts: [{ type: 'file', mediaType: 'image/png', data: 'a'.repeat(30 * 1024 * 1024) }],
};

test('[M40] of many large histories only the latest are kept, and the last one always', () => {
  const answers = createResponseHistoryCache();
  for (const name of ['one', 'two', 'three']) answers.set(name, [picture]);
  assert.deepEqual(
    ['one', 'two', 'three', undefined].map((name) => answers.get(name)?.length),
    [undefined, 1, 1, undefined],
  );
  answers.set('huge', [picture, picture, picture]);
  assert.deepEqual([answers.get('three'), answers.get('huge')?.length], [undefined, 3]);
  answers.set('small', []);
  assert.deepEqual([answers.get('huge'), answers.get('small')], [undefined, []]);
});

test('[M40] at most a thousand small histories are kept', () => {
  const answers = createResponseHistoryCache();
  for (let i = 0; i <= 1000; i++) answers.set(`n${i}`, []);
  assert.deepEqual([answers.get('n0'), answers.get('n1'), answers.get('n1000')], [undefined, [], []]);
});
