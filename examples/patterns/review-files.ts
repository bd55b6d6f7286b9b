// Two reviewers read files in parallel. Findings that say the same about the same place become one, with all its sources.
import assert from 'node:assert/strict';
import { mapReduce, orchestrateWorkers, type Finding, type MapperInput } from 'fairlead/patterns';

const { signal } = new AbortController();
const reviewer = (name: string, text: string) => ({
  name,
  family: 'gpt',
  run: ({ item }: MapperInput): readonly Finding[] =>
    item.text.includes('open(') ? [{ text, file: item.name, lines: [1, 2] }] : [],
});

const review = await mapReduce({
  task: 'Find resource leaks.',
  items: [
    { name: 'read.ts', text: 'const file = open(path);' },
    { name: 'sum.ts', text: 'export const sum = (a, b) => a + b;' },
  ],
  mappers: [
    reviewer('ann', 'The file handle is never closed.'),
    reviewer('bob', 'The file that was opened is never closed.'),
  ],
  mappersPerItem: 2,
  signal,
  budget: { calls: 8 },
});
for (const { text, file, sources } of review.findings)
  console.log(`${file}: ${text} (${sources.map(({ by }) => by).join(', ')})`);
assert.deepEqual(
  review.findings.map(({ file, sources }) => [file, sources.length]),
  [['read.ts', 2]],
);

// Parts of a task run in parallel; what failed is part of the result, and the combiner reads it.
const report = await orchestrateWorkers({
  task: 'Describe the files.',
  splitter: { name: 'splitter', asksModel: false, run: () => ['read.ts', 'sum.ts', 'absent.ts'] },
  workers: [
    {
      name: 'worker',
      family: 'gpt',
      run: ({ part }) => {
        if (part === 'absent.ts') throw new Error('There is no such file.');
        return `${part} is short.`;
      },
    },
  ],
  combiner: {
    name: 'combiner',
    asksModel: false,
    run: ({ parts }) => parts.map(({ text, why }) => text ?? why).join(' '),
  },
  signal,
  budget: { calls: 5 },
});
assert.equal(report.text, 'read.ts is short. sum.ts is short. There is no such file.');
assert.deepEqual(
  report.missing.map(({ part, outcome }) => [part, outcome]),
  [['absent.ts', 'failed']],
);
