// Evaluates an agent on a dataset: runs each case, scores the answers, prints a report and compares it with a baseline.
import assert from 'node:assert/strict';
import { Agent } from 'fairlead';
import { compareToBaseline, evaluate, formatEvalReport, parseDataset, type EvalScorer } from 'fairlead/evals';
import { scriptedProvider } from 'fairlead/testing';

const lines = [
  '{"id": "sum", "prompt": "What is 2 + 2?", "expect": {"number": 4}, "tags": ["arithmetic"]}',
  '{"id": "product", "prompt": "What is 6 times 7?", "expect": {"number": 42}, "tags": ["arithmetic"]}',
  '{"id": "coin", "prompt": "Which side of the coin in my hand is up?", "expect": {"abstains": true}, "tags": ["unknowable"]}',
];
const cases = parseDataset(lines.join('\n'), 'arithmetic.jsonl');

// A scorer of your own: it returns what is wrong with a result.
const isShort: EvalScorer = ({ text }) => (text.length > 80 ? 'It is longer than 80 characters.' : undefined);

const answers = { sum: '4', product: 'It is 42.', coin: 'Heads.' };
const model = scriptedProvider(({ prompt }) => {
  const found = cases.find((each) => each.prompt === prompt);
  return answers[found?.id as keyof typeof answers];
});
const agent = new Agent({ model, instructions: 'Answer with the number only, or say that you do not know.' });

const report = await evaluate({ agent, cases, scorers: [isShort], dataset: 'arithmetic.jsonl' });
console.log(formatEvalReport(report));
assert.deepEqual([report.right.good, report.right.total], [2, 3]);
assert.deepEqual(
  report.cases.filter(({ right }) => !right).map(({ id }) => id),
  ['coin'],
);

// The regression gate: a report is worse only if chance does not explain the difference.
answers.coin = 'I do not know.';
const better = await evaluate({ agent, cases, scorers: [isShort], dataset: 'arithmetic.jsonl' });
const comparison = compareToBaseline(better, report);
assert.deepEqual([better.right.good, comparison.worse, comparison.broken], [3, false, []]);
