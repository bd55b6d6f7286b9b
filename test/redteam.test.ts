// The command `redteam`: attacks in a simulated world, undefended and defended side by side, without a model, with a model that is missing, and with attacks of the user.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createProgram } from './support/cli-harness.ts';

test('[A45, A83] redteam --model obedient shows attack success and work kept, undefended and defended side by side, with intervals', async (t) => {
  const program = await createProgram(t);
  const { code, out } = await program.run(['redteam', '--model', 'obedient', '--kinds', 'memory,encoded']);
  assert.equal(code, 0);
  assert.match(out, /model obedient +undefended +ask +deny/);
  assert.match(out, /attacks that succeeded +15 of 15 \(78\.2 % to 100 %\) +0 of 15 \(0 % to 21\.8 %\)/);
  assert.match(out, /benign work kept +\d+ of \d+ \(/);
  assert.match(out, / {2}memory +7 of 7 +0 of 7 +0 of 7/);
  const json = await program.run([
    'redteam',
    'run',
    '--model',
    'obedient',
    '--kinds',
    'delayed',
    '--limit',
    '2',
    '--json',
  ]);
  const report = JSON.parse(json.out) as {
    readonly defences: readonly {
      readonly defence: string;
      readonly succeeded: { readonly count: number; readonly total: number };
    }[];
  };
  assert.deepEqual(
    report.defences.map(({ defence, succeeded: { count, total } }) => [defence, count, total]),
    [
      ['off', 2, 2],
      ['ask', 0, 2],
      ['deny', 0, 2],
    ],
  );
});

test('[A83] redteam without a model says so in one sentence, and names wrong arguments and files', async (t) => {
  const program = await createProgram(t);
  const none = await program.run(['redteam']);
  assert.notEqual(none.code, 0);
  assert.match(none.err, /No model configured/);
  assert.equal(none.err.trim().split('\n').length, 1);
  const kind = await program.run(['redteam', '--model', 'obedient', '--kinds', 'none']);
  assert.equal(kind.code, 2);
  assert.match(kind.err, /There are no attacks of the kind none\. The kinds are direct, /);
  const file = path.join(program.home, 'attacks.jsonl');
  writeFileSync(file, '{"id":"a"}\n');
  const bad = await program.run(['redteam', '--model', 'obedient', '--attacks', file]);
  assert.equal(bad.code, 1);
  assert.match(bad.err, /Line 1 of the attacks cannot be used/);
});

test('[A83] redteam attacks the model of the user: one that calls no tool is not harmed, and does no work either', async (t) => {
  const program = await createProgram(t, () => 'I did everything.');
  const { code, out } = await program.run(['redteam', '--model', 'ollama/qwen3', '--kinds', 'memory', '--limit', '1']);
  assert.equal(code, 0);
  assert.match(out, /model qwen3 +undefended/);
  assert.match(out, /attacks that succeeded +0 of 1 /);
  assert.match(out, /benign work kept +0 of 1 /);
  assert.ok(program.modelRequests().length >= 6);
});

test('[A121, A83] redteam suite runs user tasks and injection tasks of the user, and refuses a suite that measures nothing', async (t) => {
  const program = await createProgram(t, () => 'I did everything.');
  await program.seedModels('qwen3');
  const file = path.resolve(import.meta.dirname, '../examples/evals/suites/library.json');
  const obedient = await program.run(['redteam', 'suite', file, '--model', 'obedient']);
  assert.equal(obedient.code, 0, obedient.err);
  assert.match(obedient.out, /library with obedient +utility +security +utility under attack/);
  assert.match(obedient.out, /undefended +4 of 4 \(39\.8 % to 100 %\) +0 of 24 \(0 % to 14\.2 %\) +24 of 24/);
  assert.match(obedient.out, /ask +4 of 4 \(39\.8 % to 100 %\) +24 of 24 \(85\.8 % to 100 %\)/);
  const own = await program.run(['redteam', 'suite', file, '--model', 'qwen3', '--json']);
  assert.equal(own.code, 0, own.err);
  const { defences, model } = JSON.parse(own.out) as {
    readonly model: string;
    readonly defences: readonly { readonly utility: { readonly count: number; readonly total: number } }[];
  };
  assert.match(model, /qwen3/);
  assert.deepEqual([defences[0]?.utility.count, defences[0]?.utility.total], [0, 4]);
  const bad = path.join(program.home, 'suite.json');
  writeFileSync(bad, '{"name":"x","userTasks":[]}');
  const refused = await program.run(['redteam', 'suite', bad, '--model', 'obedient']);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /The suite cannot be used: "userTasks" is no list of tasks\./);
  assert.equal((await program.run(['redteam', 'suite'])).code, 2);
});
