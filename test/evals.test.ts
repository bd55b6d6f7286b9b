// `fairlead evals` in the real program: trials, gates for CI, reports, two models compared, and an evaluation that goes on after it was killed.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { EvalReport } from '../src/evals/report.ts';
import { calls, says, type ScriptedResponse } from '../src/testing/index.ts';
import { createHealthReader, formatMetrics, getBaselinesDir } from '../src/fleet/health/index.ts';
import { openFleetStore } from '../src/stores/index.ts';
import { createProgram, waitUntil, type TestProgram } from './support/cli-harness.ts';
import { noTerminal } from './support/terminal.ts';

const models = ['qwen3', 'gpt-oss', 'tiny'].map((id) => ({ id, tools: id !== 'tiny', context: 32_768 }));

function writeCases(program: TestProgram, lines: readonly object[], name = 'cases.jsonl'): string {
  const file = path.join(program.cwd, name);
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

const sums = Array.from({ length: 8 }, (_, i) => ({
  id: `sum-${i}`,
  prompt: `What is ${i} + ${i}?`,
  expect: { number: 2 * i },
  tags: [i < 4 ? 'small' : 'large'],
}));

const findSum = (prompt: string): string => String(2 * Number(/\d+/.exec(prompt)?.[0]));
const readReport = (file: string): EvalReport => JSON.parse(readFileSync(file, 'utf8')) as EvalReport;

test('[A48] an evaluation that was killed goes on with --resume: what has ended is not run again', async (t) => {
  let hangs = true;
  const program = await createProgram(t, ({ prompt }) =>
    hangs && prompt.includes('5 + 5') ? { hang: true } : findSum(prompt),
  );
  await program.seedModels('qwen3');
  const file = writeCases(program, sums);
  const running = program.start(['evals', file]);
  await waitUntil('the sixth case is asked', () => program.modelRequests().length === 6);
  running.kill('SIGKILL');
  await running.ended;
  hangs = false;
  program.server.clearRequests();
  const resumed = await program.run(['evals', file, '--resume', '--parallel', '3', '--output-format', 'json']);
  assert.equal(resumed.code, 0, resumed.err);
  assert.equal(program.modelRequests().length, 3, 'the case that was cut off, and the two after it');
  const { right, cases, interrupted } = JSON.parse(resumed.out) as EvalReport;
  assert.deepEqual([right.good, right.total, interrupted], [8, 8, undefined]);
  assert.deepEqual(
    cases.map(({ id }) => id),
    sums.map(({ id }) => id),
  );
  assert.deepEqual(readdirSync(program.state('evals')), [], 'a finished evaluation leaves no file');
  const again = await program.call(['evals', file, '--resume']);
  assert.equal(again.code, 1);
  assert.match(again.err, /There is no unfinished evaluation of these cases/);
});

test('[A48] gates fail the command: a case that must pass, a rate of a tag, and the lower end of an interval', async (t) => {
  const program = await createProgram(t, ({ prompt }) => (prompt.includes('7 + 7') ? '15' : findSum(prompt)));
  await program.seedModels('qwen3');
  const file = writeCases(
    program,
    sums.map((each) => ({ ...each, must: each.id === 'sum-7' })),
  );
  const all = ['--trials', '2', '--parallel', '4'];
  const failed = await program.call(['evals', file, ...all]);
  assert.equal(failed.code, 1);
  assert.match(failed.err, /FAILED: 1 of 1 cases that must pass did not: sum-7\./);
  assert.match(failed.out, /right in all +14 of 16, 88 %/);
  assert.match(failed.out, /wrong: sum-7 \(2 of 2 trials\): Its last number is 15, not 14\./);
  assert.equal(program.modelRequests().length, 16);
  const free = writeCases(program, sums, 'free.jsonl');
  for (const [args, code, words] of [
    [['--at-least', '0.8'], 0, /^$/],
    [['--at-least', 'large=0.8'], 1, /The rate of large is 3 of 4, 75 % .* 0\.8 is required/],
    [['--at-least', 'small=1', '--at-least', '0.85'], 0, /^$/],
    [['--at-least-lower', '0.8'], 1, /the lower end of the interval must be at least 0\.8/],
    [['--at-least', 'unknown=0.1'], 1, /The rate of unknown was not measured/],
  ] as const) {
    const ended = await program.call(['evals', free, '--parallel', '4', ...args]);
    assert.equal(ended.code, code, ended.err);
    assert.match(ended.err, words);
  }
});

test('[A48] reports are written as JSON, Markdown, JUnit and one HTML page in which text of a model is data', async (t) => {
  const attack = '<script>alert(1)</script> | ]]> "quoted" & ![x](http://example.test/a.png)';
  const program = await createProgram(t, ({ prompt, results }): ScriptedResponse => {
    if (prompt.includes('port')) return results.length === 0 ? calls('read_file', { path: 'app.ini' }) : says('7431');
    return says(prompt.includes('3 + 3') ? attack : findSum(prompt));
  });
  await program.seedModels('qwen3');
  const port = {
    id: 'port',
    prompt: 'Which port?',
    expect: { contains: '7431', toolUsed: 'read_file', toolSequence: ['read_file'], maxSteps: 1 },
    tools: true,
    files: { 'app.ini': 'port=7431\n' },
  };
  const file = writeCases(program, [port, ...sums]);
  const names = ['r.json', 'r.md', 'r.xml', 'r.html'].map((name) => path.join(program.cwd, name));
  const { code, err } = await program.call([
    'evals',
    file,
    '--trials',
    '2',
    ...names.flatMap((name) => ['--report', name]),
  ]);
  assert.equal(code, 0, err);
  const [json = '', markdown = '', junit = '', html = ''] = names.map((name) => readFileSync(name, 'utf8'));
  const report = JSON.parse(json) as EvalReport;
  assert.equal(report.format, 2);
  const first = report.cases[0]?.trials[0];
  assert.deepEqual([first?.right, first?.trajectory?.map(({ tool }) => tool)], [true, ['read_file']]);
  assert.match(markdown, /\| sum-3 \| 0 of 2 \|/);
  assert.doesNotMatch(markdown, /<script|!\[x\]/);
  assert.match(junit, /<testsuite name="[^"]*cases\.jsonl" tests="10" failures="1" errors="0"/);
  assert.match(junit, /<testcase classname="[^"]*" name="sum-3" time="[\d.]+"><failure message="2 of 2 trials: /);
  assert.match(junit, /&lt;script&gt;alert\(1\)&lt;\/script&gt; \| \]\]&gt; &quot;quoted&quot; &amp;/);
  assert.match(html, /Content-Security-Policy" content="default-src 'none'; style-src 'sha256-/);
  assert.doesNotMatch(html, /<script|<img|http:\/\/example\.test\/a\.png"/);
  assert.match(html, /&#60;script&#62;alert\(1\)/);
  assert.match(html, /<svg role="img" aria-label="Rates with 95 % intervals"/);
  const bad = await program.call(['evals', file, '--report', 'r.pdf']);
  assert.equal(bad.code, 2);
});

test('[A48] two models are compared case by case, in one command or from two reports', async (t) => {
  const script = ({ prompt, model }: { prompt: string; model: string }): string =>
    model === 'tiny' && !prompt.includes('0 + 0') ? 'No idea, 1000.' : findSum(prompt);
  const program = await createProgram(t, script, { models });
  await program.seedModels('qwen3');
  const file = writeCases(program, sums);
  const [before, after] = ['before.json', 'after.json'].map((name) => path.join(program.cwd, name)) as [string, string];
  for (const [model, name] of [
    ['qwen3', before],
    ['tiny', after],
  ] as const)
    assert.equal((await program.call(['evals', file, '--model', model, '--report', name])).code, 0);
  assert.equal(readReport(after).right.good, 1);
  const compared = await program.call(['evals', 'compare', before, after]);
  assert.equal(compared.code, 1, compared.err);
  assert.match(compared.out, /all cases +8 cases +−87\.5 points \(−\d+\.\d to −\d+\.\d\) +p = 0\.016/);
  assert.match(compared.out, /Worse: sum-1 \(100 % → 0 %\)/);
  assert.match(compared.out, /Verdict: worse\./);
  assert.equal((await program.call(['evals', 'compare', after, before])).code, 0);
  const both = await program.call(['evals', file, '--model', 'tiny', '--against', 'qwen3']);
  assert.equal(both.code, 1);
  assert.match(both.out, /Verdict: worse\./);
  assert.match(both.err, /Worse than qwen3, by more than chance explains/);
});

test('[A48] a judge of another family decides; one of the same family is refused with one sentence before any request', async (t) => {
  const script = ({ prompt, model }: { prompt: string; model: string }): string =>
    model === 'gpt-oss'
      ? JSON.stringify({ pass: !prompt.includes('Go away'), why: 'It is rude.' })
      : findGreeting(prompt);
  const findGreeting = (prompt: string): string => (prompt.includes('rudely') ? 'Go away.' : 'Good morning.');
  const program = await createProgram(t, script, { models });
  await program.seedModels('qwen3');
  const file = writeCases(program, [
    { id: 'polite', prompt: 'Greet me.', expect: { judge: 'It is polite.' } },
    { id: 'rude', prompt: 'Greet me rudely.', expect: { judge: 'It is polite.' } },
  ]);
  const same = await program.call(['evals', file, '--judge', 'qwen3']);
  assert.equal(same.code, 1);
  assert.match(
    same.err,
    /A judge must be of another family, but the judge qwen3 is of the family of the judged model qwen3 \(qwen\)/,
  );
  assert.equal(program.modelRequests().length, 0);
  const { code, out, err } = await program.call(['evals', file, '--judge', 'gpt-oss']);
  assert.equal(code, 0, err);
  assert.match(out, /wrong: rude: The judge gpt-oss says: It is rude\./);
  assert.match(out, /right in all +1 of 2/);
  assert.ok(!existsSync(program.state('measured')));
});

test('[A48] the terminal shows the progress while cases run', { skip: noTerminal() }, async (t) => {
  let hangs = true;
  const program = await createProgram(t, ({ prompt }) =>
    hangs && prompt.includes('2 + 2') ? { hang: true } : findSum(prompt),
  );
  await program.seedModels('qwen3');
  const terminal = await program.open(['evals', writeCases(program, sums)], { columns: 100, rows: 20 });
  await terminal.waitFor(/2 of 8 · 2 right, 0 wrong · .* · sum-2/);
  hangs = false;
  await terminal.kill();
});

test('[A48] a bad turn of a session becomes a regression case that fails with the bad model and passes with the good one', async (t) => {
  let isBad = true;
  const program = await createProgram(t, ({ prompt, results }): ScriptedResponse => {
    if (!prompt.includes('Tidy')) return says('What?');
    if (results.length === 0) return calls('read_file', { path: 'notes.txt' });
    if (results.length === 1 && isBad) return calls('write_file', { path: 'notes.txt', content: '' });
    return says(isBad ? 'I emptied the notes.' : 'The notes are tidy already.');
  });
  await program.seedModels('qwen3');
  writeFileSync(path.join(program.cwd, 'notes.txt'), 'Buy milk.\n');
  const bad = await program.run(['run', 'Tidy up notes.txt.', '--auto-approve']);
  assert.equal(bad.code, 0, bad.err);
  const [session = ''] = program.sessions();
  writeFileSync(path.join(program.cwd, 'notes.txt'), 'Buy milk.\n');
  const file = path.join(program.cwd, 'cases', 'tidy.md');
  const name = session.replace(/\.jsonl$/, '');
  const made = await program.call([
    'evals',
    'from-session',
    name,
    '--at',
    '2',
    '--output',
    file,
    '--file',
    'notes.txt',
  ]);
  assert.equal(made.code, 0, made.err);
  assert.match(made.out, /starts before turn 2; expects \{"toolNotUsed":\["write_file"\]\}/);
  const folder = path.dirname(file);
  assert.equal(readdirSync(folder).filter((each) => each.endsWith('.session.jsonl')).length, 1);

  program.server.clearRequests();
  const failed = await program.call(['evals', folder, '--auto-approve']);
  assert.equal(failed.code, 1, failed.out);
  assert.match(failed.err, /FAILED: 1 of 1 cases that must pass did not/);
  assert.match(failed.out, /It called "write_file"\./);
  assert.equal(program.modelRequests().length, 2, 'turn 1 is replayed without a model');
  const [first] = program.modelRequests();
  assert.match(JSON.stringify(first?.body), /Tidy up notes\.txt\..*Buy milk\./, 'the request continues the recording');

  isBad = false;
  program.server.clearRequests();
  const passed = await program.call(['evals', folder, '--auto-approve']);
  assert.equal(passed.code, 0, passed.err);
  assert.equal(program.modelRequests().length, 1);

  program.server.clearRequests();
  const again = path.join(program.cwd, 'recorded', 'tidy.md');
  const args = ['evals', 'from-session', name, '--at', '2', '--output', again, '--recorded'];
  assert.equal((await program.call(args)).code, 0);
  const replayed = await program.call(['evals', again, '--auto-approve'], {
    env: { OLLAMA_API_URL: 'http://127.0.0.1:9' },
  });
  assert.equal(replayed.code, 1, replayed.out);
  assert.match(replayed.out, /with recorded: 1 cases/);
  assert.match(replayed.out, /It called "write_file"\. It said: "I emptied the notes\."/);
  assert.equal(program.modelRequests().length, 0, 'a recording needs no model');

  program.server.clearRequests();
  const whole = await program.call([
    'evals',
    path.join(folder, `${name}-turn-2.session.jsonl`),
    '--output-format',
    'json',
  ]);
  assert.equal(whole.code, 0, whole.err);
  const { cases: prompts } = JSON.parse(whole.out) as EvalReport;
  assert.deepEqual(
    prompts.map(({ id, right, errors }) => [id, right, errors]),
    [[`${name}-turn-2-turn-1`, false, ['It did not use "write_file".']]],
  );
  assert.equal(program.modelRequests().length, 2);

  for (const [more, code, words] of [
    [[name, '--at', '9'], 1, /^The session has no turn 9\. It has the turns 1 to 3\./],
    [[name], 2, /^--at is the number of a turn/],
    [[name, '--at', '2', '--output', again], 1, /exists already/],
    [[name, '--at', '2', '--expect', '{"toolUse":"x"}'], 1, /there is no expectation "toolUse"/],
  ] as const) {
    const ended = await program.call(['evals', 'from-session', ...more]);
    assert.equal(ended.code, code, ended.err);
    assert.match(ended.err, words);
  }
});

test('[A65] a model that became worse than its baseline raises an alarm: at once, on a schedule by a worker, as a metric and on the health page', async (t) => {
  let isWorse = false;
  const program = await createProgram(t, ({ prompt }) => (isWorse ? 'It is 1000.' : findSum(prompt)));
  await program.seedModels('qwen3');
  const lines = Array.from({ length: 10 }, (_, i) => ({
    id: `s${i}`,
    prompt: `What is ${i} + ${i}?`,
    expect: { number: 2 * i },
  }));
  const file = writeCases(program, lines);
  const first = await program.call(['evals', 'drift', file]);
  assert.equal(first.code, 0, first.err);
  assert.match(first.out, /^ollama\/qwen3: 10 of 10, 100 % .* This is the baseline now\./);
  const same = await program.call(['evals', 'drift', file]);
  assert.match(same.out, /\+0\.0 points \(.*\): steady\./);

  isWorse = true;
  const store = path.join(program.cwd, 'fleet.sqlite');
  const args = ['evals', 'drift', file, '--every', '* * * * *', '--name', 'nightly', '--store', store];
  const scheduled = await program.call(args);
  assert.equal(scheduled.code, 0, scheduled.err);
  const opened = await openFleetStore(store);
  const [schedule] = await opened.queue.schedules();
  assert.ok(schedule);
  // The next minute is not waited for.
  await opened.queue.enqueue([{ ...schedule.run, id: 'due' }]);
  await opened.close();
  const worker = await program.run(['worker', '--drain', '--store', store]);
  assert.equal(worker.code, 0, worker.err);
  assert.match(worker.err, /Worse than its baseline: right answers of ollama\/qwen3 on cases\.jsonl/);

  const now = await program.call(['evals', 'drift', file]);
  assert.equal(now.code, 1);
  assert.match(now.out, /: 0 of 10, 0 % .*, −100\.0 points \(.*\): drifted\./);
  const reopened = await openFleetStore(store);
  const health = await createHealthReader(reopened, { baselinesDir: getBaselinesDir(program.state()) })();
  await reopened.close();
  const drift = health.drift.find(({ id }) => id === 'model:ollama/qwen3:cases.jsonl');
  assert.equal(drift?.verdict, 'drifted');
  const metrics = formatMetrics(health, []);
  assert.match(metrics, /fairlead_drifted\{of="model:ollama\/qwen3:cases\.jsonl"\} 1/);
  assert.match(metrics, /fairlead_model_right_ratio\{of="model:ollama\/qwen3:cases\.jsonl"\} 0/);
});

test('[A48] a private session is continued only by a model on the machines of the user', async (t) => {
  const program = await createProgram(t, () => 'It is a secret.');
  await program.seedModels('qwen3');
  assert.equal((await program.call(['run', 'Keep this.', '--private'])).code, 0);
  const [session = ''] = program.sessions();
  const file = path.join(program.cwd, 'case.md');
  const made = await program.call([
    'evals',
    'from-session',
    session.replace(/\.jsonl$/, ''),
    '--at',
    '1',
    '--output',
    file,
  ]);
  assert.equal(made.code, 0, made.err);
  const remote = ['evals', file, '--model', 'groq/some-model'];
  const refused = await program.call(remote, { env: { GROQ_API_KEY: 'none' } });
  assert.equal(refused.code, 1);
  assert.match(refused.err, /This session is private, and groq\/some-model is not on your own machines/);
  const local = await program.call(['evals', file, '--output-format', 'json']);
  assert.equal((JSON.parse(local.out) as EvalReport).right.total, 1, local.err);
});
