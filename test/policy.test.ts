// A policy in the real program: it decides without asking, its examples are tested, and it can be simulated on past sessions.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Json } from '../src/core/index.ts';
import { calls, says } from '../src/testing/index.ts';
import { requestMessages, createProgram, type TestProgram } from './support/cli-harness.ts';
import { writeFiles } from './support/terminal-prompt.ts';

const policyYaml = `rules:
  - allow: { command: [ls, touch] }
    examples: { match: [touch a], noMatch: [touch a; rm a] }
  - deny: { command: rm }
    why: Nothing is removed here.
  - allow: { tool: write_file, path: 'out/**' }
`;

/** Creates the program with a policy and a model that makes these calls, one per turn. */
async function createProgramWithPolicy(
  t: TestContext,
  policy: string,
  script: readonly (readonly [string, Json])[],
): Promise<TestProgram> {
  const found = await createProgram(t, ({ results }) => {
    const next = script[results.length];
    return next ? calls(...next) : says('Done.');
  });
  writeFiles(path.join(found.home, 'config/fairlead'), { 'policy.yaml': policy });
  await found.seedModels('qwen3');
  return found;
}

const getToolMessages = (program: TestProgram): readonly string[] =>
  requestMessages(program.modelRequests().at(-1))
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => String(content));

test('[A75] calls that a policy allows run without a question, and calls that it denies do not run in auto mode', async (t) => {
  const program = await createProgramWithPolicy(t, policyYaml, [
    ['run_command', { command: 'touch made' }],
    ['run_command', { command: 'touch other && rm made' }],
    ['write_file', { path: 'out/a.txt', content: 'a' }],
  ]);
  const { code, err } = await program.run(['-p', 'go', '-n', 'first', '--no-sandbox']);
  assert.equal(code, 0, err);
  const [, second] = getToolMessages(program);
  assert.match(second ?? '', /The policy denies this call: Nothing is removed here\./);
  assert.deepEqual(
    ['made', 'other', 'out/a.txt'].map((name) => existsSync(path.join(program.cwd, name))),
    [true, false, true],
  );

  const tried = await program.call(['policy', 'try', 'first']);
  assert.equal(tried.code, 0, tried.err);
  assert.match(tried.out, /^allowed {2}run_command touch made {2}\(/m);
  assert.match(tried.out, /^denied {3}run_command touch other && rm made {2}\(Nothing is removed here\.\)$/m);
  assert.match(tried.out, /^2 allowed, 0 asked, 1 denied\n$/m);

  writeFiles(program.home, { 'other.yaml': 'rules: [{ ask: { command: touch } }]' });
  const stricter = await program.call([
    'policy',
    'try',
    'first',
    '--policy',
    path.join(program.home, 'other.yaml'),
    '--json',
  ]);
  const outcomes = (JSON.parse(stricter.out) as readonly { readonly outcome: string }[]).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes, ['asked', 'asked', 'asked']);
});

test('[attack 31] a project’s policy allows nothing, and its denials apply', async (t) => {
  const program = await createProgramWithPolicy(t, policyYaml, [
    ['run_command', { command: 'rm made' }],
    ['run_command', { command: 'ls' }],
  ]);
  writeFiles(program.cwd, {
    made: '',
    '.fairlead/policy.yaml': 'rules:\n  - allow: { command: rm }\n  - deny: { command: ls }\n',
  });
  const { code, err } = await program.call(['-p', 'go', '--no-sandbox']);
  assert.equal(code, 0, err);
  assert.ok(
    getToolMessages(program).every((text) => text.includes('The policy denies this call')),
    getToolMessages(program).join('\n'),
  );
  assert.ok(existsSync(path.join(program.cwd, 'made')));
});

test('fairlead policy check reports whether a policy is valid, and an invalid one prevents the start', async (t) => {
  const program = await createProgramWithPolicy(t, policyYaml, []);
  const good = await program.call(['policy', 'check']);
  assert.deepEqual(
    [good.code, good.out],
    [0, 'The policy is valid: 2 allow, 0 ask, 1 deny; 2 examples hold.\n'],
    good.err,
  );
  writeFiles(path.join(program.home, 'config/fairlead'), {
    'policy.yaml': `dangerouslyAllowUnknown: true\n${policyYaml}`,
  });
  assert.match((await program.call(['policy', 'check'])).out, /\nWarning: dangerouslyAllowUnknown is set/);
  writeFiles(path.join(program.home, 'config/fairlead'), {
    'policy.yaml': policyYaml.replace('touch a]', 'touch a > b]'),
  });
  for (const args of [
    ['policy', 'check'],
    ['-p', 'go'],
  ]) {
    const bad = await program.call(args);
    assert.equal(bad.code, 1, bad.err);
    assert.match(bad.err, /rule 1 does not match its example "touch a > b", and must\./);
  }
  assert.equal((await program.call(['policy', 'check', 'nowhere.yaml'])).code, 1);
  for (const args of [['policy'], ['policy', 'try'], ['policy', 'check', '--nope']])
    assert.equal((await program.call(args)).code, 2, args.join(' '));
});
