// Unwritable directories and sessions that are not saved: optional files never prevent a run.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createProgram } from './support/cli-harness.ts';

test('an unwritable log directory and last-model file are reported, and the run continues', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  rmSync(program.state('logs'), { recursive: true, force: true });
  writeFileSync(program.state('logs'), 'a file where a folder should be');
  const { code, out, err } = await program.run(['--ephemeral', 'hi']);
  assert.deepEqual([code, out], [0, 'You said: hi\n'], err);
  assert.match(err, /^This start has no log\. Could not create .*logs/);
  rmSync(program.state('previous_model_name'));
  mkdirSync(program.state('previous_model_name/x'), { recursive: true });
  const forgetful = await program.run(['--interactive', '-m', 'qwen3'], { input: 'one\ntwo\n' });
  assert.equal(forgetful.code, 0);
  assert.match(forgetful.out, /You said: two/);
  assert.equal(forgetful.out.split('will not know which model was used').length, 2, 'it is reported once');
});

test('[J86] an unwritable model list is reported, and its models can be used', async (t) => {
  const program = await createProgram(t);
  mkdirSync(program.state('models.jsonl/x'), { recursive: true });
  const listed = await program.run(['--one-shot', '--refresh-models']);
  assert.deepEqual([listed.code, listed.out], [0, 'qwen3\ntiny\n'], listed.err);
  assert.match(listed.err, /^The next start will not know these models: Could not write .*models\.jsonl/);
  const input = '/model tiny\n/refresh-models\nhello\n';
  const { code, out } = await program.run(['--interactive', '--refresh-models', '-m', 'qwen3'], { input });
  assert.equal(code, 0, out);
  assert.equal(out.split('The next start will not know these models').length, 3, 'reported at each request');
  assert.match(out, /The next answer comes from tiny\./);
  assert.match(out, /You said: hello/);
});

test('an unusable input history does not end the prompt', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  mkdirSync(program.state('history'));
  const { code, out, err } = await program.run(['--interactive'], { input: 'hello\n' });
  assert.equal(code, 0, err);
  assert.match(out, /You said: hello/);
});

test('--ephemeral saves no typed input, and says that the session has no name and cannot be cloned', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const input = 'a private word\n/session rename x\n/session clone y\n/save z\n';
  const { out } = await program.run(['--interactive', '--ephemeral'], { input });
  assert.match(out, /You said: a private word/);
  assert.equal(existsSync(program.state('history')), false);
  assert.deepEqual(program.sessions(), []);
  assert.match(out, /not saved \(--ephemeral\)\. It has no name\./);
  assert.match(out, /not saved \(--ephemeral\)\. It cannot be copied\./);
  assert.equal(out.split('not saved (--ephemeral).').length, 4);
  await program.run(['--interactive'], { input: 'a public word\n' });
  assert.equal(existsSync(program.state('history')), true);
});

test('[attack 39] a project’s instructions are reported and marked as the project’s; a broken file does not stop the program', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const file = path.join(program.cwd, '.fairlead/config.json');
  mkdirSync(path.dirname(file));
  writeFileSync(file, '{"instructions":"Use tabs."}');
  const { out } = await program.run(['--interactive'], { input: 'hello\n' });
  assert.ok(out.replaceAll(/\s+/g, '').includes(`Instructionsloaded:${file}`), out);
  assert.match(
    JSON.stringify(program.modelRequests().at(-1)?.body),
    /<outside-text from=[^>]*config\.json[^>]*>\\+nUse tabs\./,
  );
  writeFileSync(file, '{');
  for (const args of [['sessions', 'list'], ['config', 'list'], ['hello']]) {
    const { code, err } = await program.run(args);
    assert.equal(code, 0, `${args.join(' ')}: ${err}`);
    if (args[0] !== 'sessions') assert.match(err, /config\.json is not a config file: .* It is not used\./);
  }
});
