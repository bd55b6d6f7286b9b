// What is asked for at the same time goes together, and nobody pays for another.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FairleadError } from '../../core/index.ts';
import { createBatcher } from './batcher.ts';

/** Doubles numbers, in batches that wait until the door is opened. */
function createDoublingBatcher(
  refused: (numbers: readonly number[]) => Error | undefined = () => undefined,
  weigh?: () => number,
) {
  const sent: (readonly number[])[] = [];
  const door = Promise.withResolvers<void>();
  const ask = createBatcher(async (numbers: readonly number[]) => {
    sent.push(numbers);
    await door.promise;
    const why = refused(numbers);
    if (why) throw why;
    return numbers.map((number) => number * 2);
  }, weigh);
  return { ask, sent, open: () => door.resolve() };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(() => setImmediate(resolve)));

test('what is asked for in one turn, and what comes while two batches are under way, is sent together', async () => {
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

test('a batch takes no more than its weight, and at least one', async () => {
  const { ask, sent, open } = createDoublingBatcher(undefined, () => 60);
  open();
  assert.deepEqual(await Promise.all([1, 2, 3].map(ask)), [2, 4, 6]);
  assert.deepEqual(sent, [[1], [2], [3]]);
});

test('where a batch is refused, only who is to blame is', async () => {
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

test('what is nobody’s fault is told to all at once, and the next are asked again', async () => {
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
