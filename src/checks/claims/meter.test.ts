// Tests of the budget of a verification: requests at the same time reserve what they may use.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { VerifyModel } from '../types.ts';
import { createMeter, isBudgetError, type VerifyBudget } from './meter.ts';

type Asked = { readonly sent: number; readonly most: number; readonly refused: number; readonly usd: number };

/** Asks a model ten times at once, and counts what was sent, how many requests ran at the same time, and what was refused. */
async function askAtOnce(budget: VerifyBudget, price?: VerifyModel['price'], usd = 0.4): Promise<Asked> {
  let [sent, running, most] = [0, 0, 0];
  const model: VerifyModel = {
    name: 'm',
    family: 'f',
    ...(price ? { price } : {}),
    async ask() {
      sent += 1;
      running += 1;
      most = Math.max(most, running);
      await new Promise((wake) => setImmediate(wake));
      running -= 1;
      return { text: 'x', spent: { input: 100, output: 300, usd } };
    },
  };
  const meter = createMeter(budget);
  const prompt = 'word '.repeat(80);
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, () => meter.ask(model)({ system: '', prompt }, meter.signal)),
  );
  const refused = results.filter((each) => each.status === 'rejected' && isBudgetError(each.reason)).length;
  assert.equal(sent + refused, 10);
  assert.equal(meter.exceeded() === undefined, refused === 0);
  return { sent, most, refused, usd: meter.spent().usd };
}

test('[A25] requests that run at the same time do not exceed a budget in tokens', async () => {
  const { sent, refused } = await askAtOnce({ tokens: 1500 });
  assert.ok(sent >= 2 && sent <= 4 && refused > 0, String(sent));
  assert.equal((await askAtOnce({})).sent, 10);
});

test('[A25] requests that run at the same time do not exceed a budget in dollars', async () => {
  const unknown = await askAtOnce({ usd: 1 });
  assert.deepEqual([unknown.sent, unknown.most, unknown.usd <= 1], [2, 1, true], 'without a price one at a time');
  const known = await askAtOnce({ usd: 1 }, { input: 1000, output: 1000 });
  assert.deepEqual([known.sent, known.most, known.usd <= 1], [2, 2, true]);
  assert.equal((await askAtOnce({ usd: 100 }, { input: 1, output: 1 })).most, 10);
});
