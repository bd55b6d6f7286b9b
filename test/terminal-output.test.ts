// Tests the interface for scripts: data on standard output, messages on standard error, exit codes, and signals that lose no data.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { maxStdinBytes } from '../src/cli/print-mode/read-stdin.ts';
import { calls, callsThenAnswer, closedUrl, fails, says } from '../src/testing/index.ts';
import { bin, isProcessAlive, requestMessages, createProgram, waitUntil } from './support/cli-harness.ts';

type Line = { readonly type: string; readonly [key: string]: unknown };

/** A line of stream-json input. */
const formatMessage = (content: unknown): string =>
  `${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`;

const parseLines = (out: string): readonly Line[] => {
  assert.ok(out.endsWith('\n'));
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
};

test('--output-format json prints one line, the result, and nothing else on standard output', async (t) => {
  const program = await createProgram(t, callsThenAnswer(1, 'list_files', {}, 'Nothing there.'));
  await program.seedModels('qwen3');
  const { code, out, err } = await program.run(['-p', 'look', '-n', 'looked', '--output-format', 'json']);
  assert.equal(code, 0);
  assert.match(err, /^\[tool\] list_files/);
  const lines = parseLines(out);
  assert.equal(lines.length, 1);
  const { session_id: id, usage, ...rest } = lines[0] ?? { type: '' };
  assert.match(String(id), /^[\da-f-]{36}$/);
  assert.deepEqual(usage, {
    input_tokens: 20,
    output_tokens: 10,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  });
  assert.deepEqual(rest, {
    type: 'result',
    subtype: 'success',
    is_error: false,
    reason: 'answered',
    result: 'Nothing there.',
    num_turns: 2,
    total_cost_usd: 0,
    model: 'qwen3',
    session: 'looked',
    asks: [],
  });
});

test('--output-format stream-json prints one line per event, the result last; --input-format stream-json reads one message per line', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const formats = ['--input-format', 'stream-json', '--output-format', 'stream-json'];
  const input = formatMessage('one') + formatMessage([{ type: 'text', text: 'two' }]);
  const { code, out, err } = await program.call([...formats, '-n', 'both'], { input });
  assert.deepEqual([code, err], [0, '']);
  const lines = parseLines(out);
  assert.equal(lines.at(-1)?.type, 'result');
  assert.deepEqual(
    lines.filter(({ type }) => type === 'result').map(({ result }) => result),
    ['You said: one', 'You said: two'],
  );
  assert.deepEqual(
    [...new Set(lines.map(({ type }) => type))],
    [
      'system',
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
      'result',
    ],
  );
  assert.deepEqual(program.sessions(), ['both']);
  const { session_id: id, tools, version, ...init } = lines[0] ?? { type: '' };
  assert.deepEqual(init, {
    type: 'system',
    subtype: 'init',
    session: 'both',
    model: 'qwen3',
    cwd: program.cwd,
    permission_mode: 'ask',
  });
  assert.deepEqual([id, typeof version], [lines.at(-1)?.['session_id'], 'string']);
  assert.ok((tools as readonly string[]).includes('read_file'));
  assert.equal(lines.filter(({ type }) => type === 'system').length, 1, 'one first line for both prompts');
  assert.deepEqual(findCamelCaseKeys(lines), [], 'one spelling of the names');
  program.server.setScript(({ index }) => (index === 1 ? fails('bad-request') : 'fine'));
  const many = await program.call(formats, { input: formatMessage('again').repeat(12) });
  assert.deepEqual([many.code, many.err], [1, ''], 'one of the twelve answers is missing');
  assert.equal(parseLines(many.out).filter(({ type }) => type === 'result').length, 12);
  const broken = await program.call(formats, { input: `${formatMessage('fine')}{"type":"user"\n` });
  assert.equal(broken.code, 1);
  assert.match(broken.err, /^Line 2 of standard input is not a user message: .* A line is \{"type":"user"/);
  assert.equal(parseLines(broken.out).filter(({ type }) => type === 'result').length, 2);
  assertFailure(broken.out, /^Line 2 of standard input is not a user message: /);
});

/** Names in another spelling than snake_case, at any depth; the input of a tool has the names of the tool. */
const findCamelCaseKeys = (value: unknown): readonly string[] =>
  value !== null && typeof value === 'object'
    ? Object.entries(value).flatMap(([key, each]) => [
        ...(/[A-Z]|-/.test(key) ? [key] : []),
        ...(key === 'input' ? [] : findCamelCaseKeys(each)),
      ])
    : [];

function assertFailure(out: string, why: RegExp): void {
  const { error, ...rest } = parseLines(out).at(-1) ?? { type: '' };
  assert.deepEqual(rest, { type: 'result', subtype: 'error', is_error: true });
  assert.match(String(error), why);
}

test('[J50] in JSON the last line has the error before a run, and the exit code is the same', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  assert.equal((await program.call(['-p', 'x', '-n', 'taken'])).code, 0);
  for (const format of ['json', 'stream-json'])
    for (const [args, code, why] of [
      [['-p', 'x', '-n', 'taken'], 1, /taken/],
      [['-p', 'x', '-m', 'qwen4'], 1, /qwen4/],
      [['-'], 2, /^No prompt was given: /],
      [['-p', 'x', '--bogus'], 2, /^There is no option "--bogus"/],
      [['sesions', 'list'], 2, /^There is no command "sesions"\./],
      [['-p', 'x', '--cwd', 'nowhere'], 1, /^The folder of --cwd does not exist: .*nowhere$/],
    ] as const) {
      const failed = await program.call([...args, '--output-format', format]);
      assert.equal(failed.code, code);
      assert.notEqual(failed.err, '');
      assert.equal(parseLines(failed.out).length, 1);
      assertFailure(failed.out, why);
    }
});

test('--output-schema validates the answer and returns it as data; an invalid schema fails before any request', async (t) => {
  const program = await createProgram(t, ['It is 42.', '{"n": 42}']);
  await program.seedModels('qwen3');
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  writeFileSync(path.join(program.cwd, 'schema.json'), JSON.stringify(schema));
  const { code, out, err } = await program.call(['-p', 'how many?', '--output-schema', 'schema.json', '--json']);
  assert.equal(code, 0, err);
  assert.deepEqual(parseLines(out)[0]?.['structured_output'], { n: 42 });
  assert.equal(program.modelRequests().length, 2, 'an answer that does not match is requested again');
  program.server.clearRequests();
  for (const bad of ['nowhere.json', '{"type": 7}']) {
    const refused = await program.call(['-p', 'x', '--output-schema', bad]);
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(
      refused.err,
      /^--output-schema cannot be used: [^\n]+ Give a file with a JSON Schema, or the schema itself\.\n$/,
    );
  }
  assert.deepEqual(program.server.requests, []);
});

test('[J50] every result of a run has its exit code: 1 error, 3 turns, 4 budget, 7 unreachable', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const loop = callsThenAnswer(99, 'list_files', {}, 'never');
  program.server.setScript(loop);
  const turns = await program.call(['-p', 'x', '--max-turns', '2']);
  assert.deepEqual([turns.code, turns.out], [3, '']);
  assert.match(turns.err, /Turn limit \(2\) reached\.\n$/);
  assert.equal(program.modelRequests().length, 2);

  program.server.setScript(() => calls('list_files', {}).and({ usage: { input: 1000, output: 1000 } }));
  const hosted = { OPENAI_API_KEY: 'a-key', OPENAI_BASE_URL: `${program.server.url}/v1` };
  const budget = await program.call(['-p', 'x', '-m', 'openai/gpt-4o', '--max-budget-usd', '0.02'], { env: hosted });
  assert.deepEqual([budget.code, budget.out], [4, '']);
  assert.match(budget.err, /of \$0\.02 is spent/);

  program.server.setScript([fails('bad-request')]);
  const failed = await program.call(['-p', 'x', '-m', 'qwen3', '--json']);
  assert.equal(failed.code, 1);
  const [line] = parseLines(failed.out);
  assert.deepEqual([line?.['is_error'], line?.['reason']], [true, 'provider-error']);
  assert.match(String(line?.['error']), /^The model request failed\. /);

  const url = await closedUrl();
  const away = await program.call(['-p', 'x', '-m', 'ollama/qwen3', '-n', 'kept'], { env: { OLLAMA_API_URL: url } });
  assert.deepEqual([away.code, away.out], [7, '']);
  assert.match(away.err, /The model request failed\. Cannot connect to ollama/);
  assert.match(program.session('kept'), /"text":"x"/, 'the prompt is saved');
});

test('SIGINT ends a run with exit code 130: the shown text stays, and the session can be resumed', async (t) => {
  const program = await createProgram(t, [
    says('The beginning and the end', { chunks: ['The beginning', ' and the end'], cutAfter: 1, hang: true }),
    'Here is all of it.',
  ]);
  await program.seedModels('qwen3');
  const input = formatMessage('tell me') + formatMessage('and then?');
  const running = program.start(['--input-format', 'stream-json', '-n', 'stopped', '--stream'], { input });
  await waitUntil('the beginning is shown', () => running.out() === 'The beginning');
  running.kill('SIGINT');
  const { code, out, err } = await running.ended;
  assert.deepEqual([code, out], [130, 'The beginning\n']);
  assert.match(err, /^Interrupted\./);
  assert.equal(program.modelRequests().length, 1, 'the next step is not started');
  const resumed = await program.call(['-p', 'go on', '-r', 'stopped']);
  assert.deepEqual([resumed.code, resumed.out], [0, 'Here is all of it.\n'], resumed.err);
  const said = requestMessages(program.modelRequests().at(-1)).map(({ content }) => content);
  assert.deepEqual([said[0], said.at(-1)], ['tell me', 'go on']);
  assert.equal((await program.call(['sessions', 'verify', 'stopped'])).code, 0);
});

for (const [mode, args] of [
  ['single', ['-p', 'wait']],
  ['interactive', ['--interactive']],
] as const) {
  test(`SIGTERM ends a run (${mode}) in order with exit code 143: the running command is ended too, and the model is told`, async (t) => {
    const program = await createProgram(t, [
      calls('run_command', { command: 'echo $$ > pid; exec sleep 100' }),
      'Then not.',
    ]);
    await program.seedModels('qwen3');
    const running = program.start([...args, '-n', 'stopped', '--auto-approve', '--no-sandbox'], { input: 'wait\n' });
    const file = path.join(program.cwd, 'pid');
    await waitUntil('the command runs', () => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
    running.kill('SIGTERM');
    assert.equal((await running.ended).code, 143);
    const pid = Number(readFileSync(file, 'utf8'));
    await waitUntil('the command is gone', () => !isProcessAlive(pid));
    const resumed = await program.call(['-p', 'go on', '-r', 'stopped']);
    assert.deepEqual([resumed.code, resumed.out], [0, 'Then not.\n'], resumed.err);
    const told = requestMessages(program.modelRequests().at(-1));
    assert.deepEqual(
      told.map(({ role }) => role),
      ['user', 'assistant', 'tool', 'user'],
    );
    assert.match(String(told[2]?.['content']), /stopped|interrupted|cancelled/i);
  });
}

test('a closed pipe, as with head, ends the run without a stack trace and keeps the session intact', async (t) => {
  const program = await createProgram(t, [says('word '.repeat(4000), { chunks: 4000, chunkMs: 1 }), 'fine']);
  await program.seedModels('qwen3');
  const running = program.start(['-p', 'a lot', '-n', 'piped', '--stream']);
  await waitUntil('something is shown', () => running.out() !== '');
  running.closeStdout();
  const { code, err } = await running.ended;
  assert.notEqual(code, null);
  assert.notEqual(code, 0);
  assert.doesNotMatch(err, /\n\s+at |EPIPE/);
  assert.equal((await program.call(['-p', 'still there?', '-r', 'piped'])).code, 0);
});

test('a closed standard output ends a command silently, and a closed standard error does not lose the answer', async (t) => {
  const program = await createProgram(t, ({ results }) =>
    results.length === 0 ? calls('list_files', {}) : says('word '.repeat(40_000)),
  );
  await program.seedModels('qwen3');
  const child = spawn(process.execPath, [bin, '-p', 'a lot', '-n', 'long'], {
    cwd: program.cwd,
    env: program.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.destroy();
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  assert.deepEqual(await once(child, 'close'), [0, null]);
  assert.equal(out, `${'word '.repeat(40_000)}\n`);
  for (const args of [['sessions', 'show', 'long'], ['sessions', 'export', 'long'], ['--help']]) {
    const running = program.start(args);
    running.closeStdout();
    const { code, err } = await running.ended;
    assert.deepEqual([code, err], [0, ''], args.join(' '));
  }
  program.server.setScript([says('word '.repeat(4000), { chunks: 4000, chunkMs: 1 })]);
  const talking = program.start(['--interactive', '--stream'], { input: 'a lot\n' });
  await waitUntil('something is shown', () => talking.out().includes('word'));
  talking.closeStdout();
  const { code, err } = await talking.ended;
  assert.deepEqual([code, err], [129, ''], 'a conversation ends in order');
});

test('--ephemeral saves nothing, --continue continues the latest session', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const none = await program.call(['-p', 'x', '--continue']);
  assert.deepEqual(
    [none.code, none.err],
    [1, 'There is no session of this folder to continue yet. Leave --continue out to begin one.\n'],
  );
  assert.equal((await program.call(['-p', 'secret', '--ephemeral'])).code, 0);
  assert.deepEqual(program.sessions(), []);
  await program.call(['-p', 'first', '-n', 'a']);
  await program.call(['-p', 'second', '-n', 'b']);
  assert.equal((await program.call(['third', '--continue'])).code, 0);
  assert.deepEqual(
    requestMessages(program.modelRequests().at(-1)).map(({ content }) => content),
    ['second', 'You said: second', 'third'],
  );
});

test('text on standard input is sent with the prompt, between marks that it does not contain; empty input adds nothing', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  writeFileSync(path.join(program.cwd, 'prompt.md'), 'from a file');
  const sent = async (args: readonly string[], input?: string): Promise<unknown> => {
    const { code, err } = await program.run(args, input === undefined ? {} : { input });
    assert.deepEqual([code, err], [0, ''], args.join(' '));
    return requestMessages(program.modelRequests().at(-1)).at(-1)?.['content'];
  };
  const diff = '--- a\n+++ b\n';
  assert.equal(await sent(['review this'], diff), 'review this\n\n<stdin>\n--- a\n+++ b\n</stdin>');
  assert.equal(await sent(['--one-shot', '--prompt', 'review'], 'x'), 'review\n\n<stdin>\nx\n</stdin>');
  assert.equal(await sent(['-P', 'prompt.md'], 'x'), 'from a file\n\n<stdin>\nx\n</stdin>');
  assert.equal(await sent(['review this', '-'], 'late'), 'review this\n\n<stdin>\nlate\n</stdin>');
  assert.equal(await sent(['mark'], '</stdin>'), 'mark\n\n<stdin-2>\n</stdin>\n</stdin-2>');
  for (const empty of ['', ' \n', undefined]) assert.equal(await sent(['-p', 'as it is '], empty), 'as it is ');
});

test('standard input that is too large or not text is refused before any request', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  for (const [args, input, error] of [
    [
      ['-p', 'x'],
      'y'.repeat(maxStdinBytes + 1),
      /^Standard input has more than 4194304 bytes, which is the maximum\. /,
    ],
    [['-p', 'x'], 'a\0b', /^Standard input is not text: /],
    [['-'], 'a\0b', /^Standard input is not text: /],
  ] as const) {
    const { code, err } = await program.run(args, { input });
    assert.equal(code, 1);
    assert.match(err, error);
  }
  assert.deepEqual(program.modelRequests(), []);
});

test('a pipe that stays open without data does not keep the program waiting, and /dev/null and a closed input are empty', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const run = async (stdin: 'pipe' | 'ignore'): Promise<readonly unknown[]> => {
    const child = spawn(process.execPath, [bin, 'hello'], {
      cwd: program.cwd,
      env: program.env,
      stdio: [stdin, 'pipe', 'pipe'],
    });
    let [out, err] = ['', ''];
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
    t.after(() => child.kill());
    const [code] = await once(child, 'close');
    return [code, out, err];
  };
  const [open, none] = await Promise.all([run('pipe'), run('ignore')]);
  assert.deepEqual(none, [0, 'You said: hello\n', '']);
  assert.deepEqual(open.slice(0, 2), [0, 'You said: hello\n']);
  assert.match(String(open[2]), /^Standard input is open but sent no data for 3 s: the prompt is sent without it\./);
});
