// Tests streamed answers in a real terminal: streaming by default, interrupted text, retries, and the status line.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { calls, fails, says } from '../src/testing/index.ts';
import { createProgram } from './support/cli-harness.ts';
import { createPromptEnvironment, getSentRequests, openPrompt } from './support/terminal-prompt.ts';
import { noTerminal } from './support/terminal.ts';

const skip = noTerminal();

const cutAnswer = says('The first words and the rest', {
  chunks: ['The first words', ' and the rest'],
  cutAfter: 1,
  hang: true,
});

test(
  '[J12, J53] answers are streamed by default; text that Esc or Ctrl+C interrupts stays, marked as cut off, also after a resume',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, () => cutAnswer);
    const prompt = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha', '-n', 'cut']);
    await prompt.enterAndWait('one', /^The first words$[^]*thinking/m);
    await prompt.keys('Escape');
    await prompt.waitFor(/^The first words\n\[cut off\]\n\n· Interrupted\. \/continue to resume\.$/m);
    await prompt.enterAndWait('two', /> two\n\nThe first words\n[^]*thinking/);
    await prompt.keys('C-c');
    await prompt.waitFor(/> two\n\nThe first words\n\[cut off\]\n\n· Interrupted\./);
    assert.doesNotMatch(await prompt.screen(), /cost unknown/, 'an interruption of a free model costs nothing');
    await prompt.enterAndWait('/exit', /^exit code 0$/m);
    const resumed = await openPrompt(t, environment, ['--model', 'alpha', '--resume', 'cut']);
    await resumed.waitFor(/> one\n\nThe first words\n\[cut off\]\n\n> two\n\nThe first words\n\[cut off\]\n/);
  },
);

test('the text of an answer stays when the server dies in the middle of it', { skip }, async (t) => {
  const environment = await createPromptEnvironment(t, ({ index }) =>
    index === 0
      ? says('Half of it and more', { chunks: ['Half of it', ' and more'], cutAfter: 1 })
      : fails({ status: 400, message: 'gone' }),
  );
  const prompt = await openPrompt(t, environment);
  await prompt.enterAndWait(
    'go',
    /^Half of it$[^]*! The connection to lm-studio dropped mid-answer\. Retrying in \d s/m,
  );
  await prompt.waitFor(/^Half of it\n\[cut off\]\n[^]*✗ lm-studio[^]*! The model request failed\./m);
});

test(
  '[P48, P82] a rate limit is shown with its wait and attempt: in the transcript, and as a countdown in the status line',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ index }) =>
      index === 0 ? fails({ name: 'rate-limited', afterMs: 3000 }) : says('Here.'),
    );
    const prompt = await openPrompt(t, environment);
    await prompt.enterAndWait('go', /! Rate limited \(429\) by lm-studio, retrying in [345] s, attempt 2 of 4\./);
    await prompt.waitFor(/rate limited, retrying in \d s, attempt 2 of 4 \(Esc interrupts\)/);
    await prompt.waitFor(/^Here\.$(?![^]*rate limited, retrying)/m);
  },
);

test('[P48, P82] a one-shot run tells a rate limit on standard error, and stream-json as an event', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const limit = fails({ name: 'rate-limited', afterMs: 10 });
  program.server.setScript([limit, 'Here.']);
  const { code, out, err } = await program.run(['-p', 'x']);
  assert.deepEqual([code, out], [0, 'Here.\n']);
  assert.match(err, /^Rate limited \(429\) by ollama, retrying in \d s, attempt 2 of 4\.\n/m);
  program.server.setScript([limit, 'Here.']);
  const lines = (await program.run(['-p', 'x', '--output-format', 'stream-json'])).out.trim().split('\n');
  const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const retry = events.find(({ type }) => type === 'retry');
  assert.deepEqual([retry?.['attempt'], retry?.['max_attempts'], retry?.['code']], [2, 4, 'provider/rate-limited']);
  assert.ok(Number(retry?.['wait_ms']) >= 10);
});

test('[J12, J52, J100] --no-stream and the setting ask the API for a complete answer; --stream asks for a stream', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const streamed = (): unknown =>
    (program.modelRequests().at(-1)?.body as { readonly stream?: unknown } | undefined)?.stream;
  for (const [args, expected] of [
    [[], true],
    [['--stream'], true],
    [['--no-stream'], false],
  ] as const) {
    const { code, out } = await program.run(['-p', 'x', ...args]);
    assert.deepEqual([code, out, streamed()], [0, 'You said: x\n', expected]);
  }
  await program.run(['config', 'set', 'stream', 'false']);
  assert.equal((await program.run(['-p', 'x'])).out, 'You said: x\n');
  assert.equal(streamed(), false);
  await program.run(['-p', 'x', '-s']);
  assert.equal(streamed(), true);
});

test(
  '[J60, J100] /stream changes what the next request asks for, with calls and answers of both kinds',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, ({ results }) =>
      results.length === 0 ? calls('list_files') : says('Listed.'),
    );
    const prompt = await openPrompt(t, environment, undefined, { columns: 130 });
    await prompt.enterAndWait('/stream', /Streaming off\.[^]*no streaming/);
    await prompt.enterAndWait('go', /^Listed\.$/m);
    const bodies = environment.server.requests.filter(({ format }) => format !== undefined).map(({ body }) => body);
    assert.deepEqual(
      bodies.map((body) => (body as { readonly stream?: unknown }).stream),
      [false, false],
    );
  },
);

test(
  'the status line shows folder and branch; a narrow window keeps the model and the mode, and drops the session first',
  { skip },
  async (t) => {
    const environment = await createPromptEnvironment(t, () => says('Hi.'));
    mkdirSync(path.join(environment.cwd, '.git'));
    writeFileSync(path.join(environment.cwd, '.git', 'HEAD'), 'ref: refs/heads/feature/x\n');
    const prompt = await openPrompt(t, environment, ['--refresh-models', '--model', 'alpha', '-n', 'named'], {
      columns: 130,
    });
    const folder = path.basename(environment.cwd);
    await prompt.waitFor(
      new RegExp(`^alpha · \\S*/${folder} \\(feature/x\\) · .* · ask before changes · named *$`, 'm'),
    );
    await prompt.resize(46, 24);
    await prompt.waitFor(/^alpha · [^\n]*NO SANDBOX · ask before changes *$/m);
    await prompt.resize(20, 24);
    await prompt.waitFor(/^alpha · NO SANDBOX *$/m);
  },
);

test('pasted tabs reach the model as tabs', { skip }, async (t) => {
  const environment = await createPromptEnvironment(t, () => says('Read.'));
  const prompt = await openPrompt(t, environment);
  await prompt.paste('all:\n\tcc -o x');
  await prompt.waitFor(/^> all:\n +→cc -o x/m);
  await prompt.keys('Enter');
  await prompt.waitFor(/^Read\.$/m);
  assert.equal(getSentRequests(environment.server)[0]?.messages.at(-1)?.text, 'all:\n\tcc -o x');
});
