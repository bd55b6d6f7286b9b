// Trials on a queue: an evaluation that was ended continues, runs nothing twice, and refuses the file of another one.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { Agent } from '../agent/index.ts';
import { FairleadError } from '../core/index.ts';
import { scriptedProvider } from '../testing/index.ts';
import { evaluate, type EvaluateOptions } from './evaluate.ts';

function createFile(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-queue-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return path.join(folder, 'results.sqlite');
}

const cases = [1, 2, 3, 4].map((n) => ({ id: `c${n}`, prompt: `p${n}`, expect: { equals: ['x'] } }));

test('[A48] an evaluation that was ended continues with the trials that are missing, in one report', async (t) => {
  const results = createFile(t);
  let asked = 0;
  const agent = new Agent({ model: scriptedProvider(() => (asked++, 'x')) });
  const options: EvaluateOptions = { agent, cases, trials: 2, results, configuration: { model: 'a' } };
  const stop = new AbortController();
  const first = await evaluate({ ...options, signal: stop.signal, onResult: ({ id }) => id === 'c2' && stop.abort() });
  assert.deepEqual([first.interrupted, asked], [true, 4]);
  const second = await evaluate({ ...options, parallel: 3 });
  assert.deepEqual([second.interrupted, second.right.good, second.right.total, asked], [undefined, 8, 8, 8]);
  assert.deepEqual(
    second.cases.map(({ id }) => id),
    ['c1', 'c2', 'c3', 'c4'],
  );
  const third = await evaluate({ ...options, trials: 3 });
  assert.deepEqual([third.right.total, asked], [12, 12], 'more trials add to those that are there');
  await assert.rejects(evaluate({ ...options, configuration: { model: 'b' } }), { code: 'eval/other-results' });
  assert.equal(asked, 12);
});

test('[A48] a trial without a response is run again at the next start', async (t) => {
  const results = createFile(t);
  let isDown = true;
  const agent = new Agent({
    model: scriptedProvider(() => {
      if (isDown) throw new FairleadError('provider/bad-request', 'down', { blame: 'user' });
      return 'x';
    }),
  });
  const first = await evaluate({ agent, cases, results });
  assert.deepEqual([first.withoutResponse, first.right.total], [4, 0]);
  isDown = false;
  const second = await evaluate({ agent, cases, results });
  assert.deepEqual([second.withoutResponse, second.right.good], [0, 4]);
});

test('[A48] an error of the configuration ends the evaluation instead of being tried again', async (t) => {
  const agent = new Agent({ model: scriptedProvider(() => 'x') });
  const withFiles = cases.map((each) => ({ ...each, files: { a: '' } }));
  await assert.rejects(evaluate({ agent, cases: withFiles, results: createFile(t), parallel: 2 }), {
    code: 'eval/no-directory',
  });
});
