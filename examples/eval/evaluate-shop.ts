// Evaluates a shop agent: cases as Markdown and CSV, tools that must be used, repeated trials, gates, a judge of another family, and two versions compared.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Agent, tool } from 'fairlead';
import {
  checkEvalGates,
  compareReports,
  evaluate,
  formatEvalComparison,
  readDataset,
  writeEvalReport,
} from 'fairlead/evals';
import { calls, says, scriptedProvider } from 'fairlead/testing';

const folder = mkdtempSync(path.join(tmpdir(), 'shop-evals-'));
const cases = [
  ...(await readDataset(path.join(import.meta.dirname, 'shop.md'))),
  ...(await readDataset(path.join(import.meta.dirname, 'prices.csv'))),
];

const lookUpShop = tool({
  name: 'look_up_shop',
  description: 'Returns the opening hours of the shop in a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effect: 'read',
  execute: async () => 'Mon to Fri 9:00 to 18:00, Sat 10:00 to 16:00',
});
const refund = tool({
  name: 'refund',
  description: 'Pays the price of an order back.',
  inputSchema: { type: 'object', properties: { order: { type: 'string' } } },
  effect: 'read',
  execute: async () => 'paid',
});

/** Stands for a model: the first version pays back without asking for the order. */
const createShopAgent = (version: 1 | 2): Agent =>
  new Agent({
    tools: [lookUpShop, refund],
    model: scriptedProvider(({ prompt, results }) => {
      if (prompt.includes('Bergen'))
        return results.length === 0 ? calls('look_up_shop', { city: 'Bergen' }) : says('It closes at 16:00.');
      if (prompt.includes('money back')) {
        if (version === 1 && results.length === 0) return calls('refund', {});
        return says(version === 1 ? 'It is paid.' : 'What is the order number?');
      }
      return says(prompt.includes('tax') ? '20' : 'It is 1,080.');
    }),
  });

const options = { cases, dataset: 'shop', trials: 3, parallel: 2 };
const before = await evaluate({ ...options, agent: createShopAgent(1) });
const after = await evaluate({
  ...options,
  agent: createShopAgent(2),
  results: path.join(folder, 'results.sqlite'),
  onProgress: ({ done, total }) => console.log(`${done} of ${total}`),
});
assert.deepEqual([before.reliable.good, after.reliable.good], [3, 4]);

const gates = checkEvalGates(after, [{ type: 'must' }, { type: 'rate', atLeast: 0.9, bound: 'value', tag: 'shop' }]);
assert.ok(gates.every(({ passed }) => passed));

const comparison = compareReports(before, after);
console.log(formatEvalComparison(comparison));
assert.deepEqual(
  comparison.better.map(({ id }) => id),
  ['no-refund-without-order'],
);

writeEvalReport(path.join(folder, 'report.html'), after, { gates, comparison });
assert.match(readFileSync(path.join(folder, 'report.html'), 'utf8'), /<svg/);

// A judge reads what text rules cannot decide. It is refused if it is of the family of the judged model.
const polite = { id: 'polite', prompt: 'I want my money back.', expect: { judge: 'It is polite.' } };
const judge = {
  name: 'openai/gpt-5',
  family: 'gpt',
  ask: async () => ({ text: '{"pass": true, "why": "It asks politely."}', spent: {} }),
};
const judged = await evaluate({ agent: createShopAgent(2), cases: [polite], judges: [judge] });
assert.equal(judged.right.good, 1);
rmSync(folder, { recursive: true });
