import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { waitForJoiningInput } from './approval-prompts.ts';

test('input that arrives while other input is being recorded is waited for too', async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let joining: Promise<unknown> = first.promise;
  let over = false;
  const waiting = waitForJoiningInput(() => joining).then(() => (over = true));
  joining = Promise.allSettled([joining, second.promise]);
  first.resolve();
  await setImmediate();
  assert.equal(over, false);
  second.resolve();
  await waiting;
  assert.equal(over, true);
});
