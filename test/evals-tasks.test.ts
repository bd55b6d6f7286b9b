// Repository tasks in the real program: a scripted agent solves some and fails others, and the hidden tests of each task decide.
import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { readRepositoryTasks } from '../src/evals/check-tasks.ts';
import type { EvalReport } from '../src/evals/report.ts';
import { calls, type ScriptedResponse } from '../src/testing/index.ts';
import { createProgram } from './support/cli-harness.ts';

const file = path.resolve(import.meta.dirname, '../examples/evals/repository-tasks/small.tasks.jsonl');

/** What the agent does with tasks that it does not solve. */
const failures: Readonly<Record<string, readonly ScriptedResponse[]>> = {
  // It answers, and did nothing.
  'csv-quotes': [],
  // It solves half of the task.
  rename: [calls('write_file', { path: 'src/total.mjs', content: "export { calc as sum } from './sum.mjs';\n" })],
  // It writes a test that passes, in the place of the hidden one.
  'path-escape': [calls('write_file', { path: 'check.mjs', content: '\n' })],
};

test('[A121] `fairlead evals` runs repository tasks: hidden tests decide, not the answer and not a test of the agent', async (t) => {
  const tasks = await readRepositoryTasks(file);
  const program = await createProgram(t, ({ prompt, results }) => {
    const task = tasks.find(({ evalCase }) => prompt.includes(evalCase.prompt));
    assert.ok(task, prompt);
    const { evalCase, solution = {} } = task;
    const work = Object.entries(solution).flatMap(([name, content]) => [
      ...(Object.hasOwn(evalCase.files, name) ? [calls('read_file', { path: name })] : []),
      calls('write_file', { path: name, content }),
    ]);
    return (failures[evalCase.id] ?? work)[results.length] ?? 'Please look at the files.';
  });
  await program.seedModels('qwen3');
  const { code, out, err } = await program.run(['evals', file, '--auto-approve', '--output-format', 'json']);
  const report = JSON.parse(out || '{}') as EvalReport;
  const wrong = report.cases.filter(({ trials }) => !trials.every(({ right }) => right));
  assert.deepEqual(
    wrong.map(({ id }) => id),
    ['csv-quotes', 'rename', 'path-escape'],
    `${err}${wrong.map(({ trials }) => trials[0]?.errors.join()).join('\n')}`,
  );
  assert.deepEqual([report.right.good, report.right.total, code], [tasks.length - 3, tasks.length, 0]);
  for (const { trials } of wrong) assert.match(trials[0]?.errors.join() ?? '', /Its command ended with exit code 1/);
  const sent = program.modelRequests().map(({ raw }) => raw.toString());
  assert.ok(
    sent.every((text) => !text.includes('node:assert')),
    'no request has a hidden test',
  );
});
