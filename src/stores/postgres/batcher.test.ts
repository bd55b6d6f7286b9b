// Batching of concurrent requests: they are sent together, and none fails because of another.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FairleadError } from '../../core/index.ts';
import { createBatcher } from './batcher.ts';

/** Doubles numbers, in batches that wait until they are released. */
function createDoublingBatcher(
  refused: (numbers: readonly number[]) => Error | undefined = () => undefined,
  weigh?: () => number,
) {
  const sent: (readonly number[])[] = [];
  const release = Promise.withResolvers<void>();
  const ask = createBatcher(async (numbers: readonly number[]) => {
    sent.push(numbers);
    await release.promise;
    const why = refused(numbers);
    if (why) throw why;
    return numbers.map((number) => number * 2);
  }, weigh);
  return { ask, sent, open: () => release.resolve() };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));

test('requests of one turn, and those made while two batches are in flight, are sent together', async () => {
  const { ask, sent, open } = createDoublingBatcher();
  const first = [ask(1), ask(2)];
  await nextTurn();
  const second = [ask(3)];
  await nextTurn();
  const third = [ask(4), ask(5)];
  await nextTurn();
  third.push(ask(6));
  await nextTurn();
  assert.deepEqual(sent, [[1, 2], [3]]);
  open();
  assert.deepEqual(await Promise.all([...first, ...second, ...third]), [2, 4, 6, 8, 10, 12]);
  assert.deepEqual(sent, [[1, 2], [3], [4, 5, 6]]);
});

test('a batch keeps its maximum weight, and has at least one request', async () => {
  const { ask, sent, open } = createDoublingBatcher(undefined, () => 60);
  open();
  assert.deepEqual(await Promise.all([1, 2, 3].map(ask)), [2, 4, 6]);
  assert.deepEqual(sent, [[1], [2], [3]]);
});

test('if a batch fails, only the request that causes it is rejected', async () => {
  const { ask, sent, open } = createDoublingBatcher((numbers) =>
    numbers.includes(2) ? new FairleadError('store/failed', 'No twos.', { blame: 'store' }) : undefined,
  );
  open();
  const answers = await Promise.allSettled([1, 2, 3].map(ask));
  assert.deepEqual(
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : String(answer.reason))),
    [2, 'FairleadError: No twos.', 6],
  );
  assert.deepEqual(sent, [[1, 2, 3], [1], [2], [3]]);
});

test('an error that concerns all rejects all at once, and later requests are sent again', async () => {
  let away = true;
  const { ask, sent, open } = createDoublingBatcher(() =>
    away ? new FairleadError('store/unreachable', 'Gone.', { blame: 'store', retry: true }) : undefined,
  );
  open();
  const answers = await Promise.allSettled([1, 2].map(ask));
  assert.ok(answers.every(({ status }) => status === 'rejected'));
  away = false;
  assert.equal(await ask(3), 6);
  assert.deepEqual(sent, [[1, 2], [3]]);
});
