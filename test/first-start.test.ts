// Tests the first start with an empty home and no variables: what is found, what is asked, what is sent where, and what is remembered.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { closedUrl, scriptedServer, type ScriptedServer } from '../src/testing/index.ts';
import { createBareStart } from './support/bare-start.ts';
import { installFakeRuntime } from './support/fake-runtime.ts';
import { createGguf, jinja, serveHub } from './support/hub-server.ts';
import { answerPrompt, waitForExitCode } from './support/cli-harness.ts';
import { createProgramDirs, bin } from './support/program-dirs.ts';
import { noTerminal } from './support/terminal.ts';
import { enterLine } from './support/tui.ts';
import { spawnSync } from 'node:child_process';

const skip = noTerminal();

const models = [
  { id: 'qwen3:8b', tools: true, context: 32_768 },
  { id: 'gemma3:4b', tools: false, context: 8192 },
];

async function serve(t: TestContext, listed: { readonly id: string }[] = models): Promise<ScriptedServer> {
  const server = await scriptedServer(({ prompt }) => `You said: ${prompt}`, { models: listed });
  t.after(() => server.close());
  return server;
}

test('[J67, J101] in a pipe without a configured model: one sentence, exit code 2, nothing fetched and nothing sent', async (t) => {
  // No variable at all besides PATH and HOME; whatever runs at the default ports of this machine is not used.
  const { home, cwd } = createProgramDirs(t);
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, 'Is 17 prime?'], { cwd, env, encoding: 'utf8' });
  assert.deepEqual([status, stdout], [2, '']);
  assert.match(
    stderr,
    /^No model configured: name one with --model, such as --model ollama\/\S+, or run fairlead in a terminal to choose one\.\n$/,
  );
  assert.equal(existsSync(`${home}/.local/share/fairlead/models`), false);
  assert.equal(existsSync(`${home}/.local/share/fairlead/runtime`), false);
});

test('[J36, J101] in a pipe neither a server that answers nor a key in the environment is used before a choice', async (t) => {
  const bare = await createBareStart(t);
  const [local, company] = [await serve(t), await serve(t, [{ id: 'claude-x' }])];
  const env = { OLLAMA_HOST: local.url, ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: company.url };
  const { code, out, err } = await bare.run(['hello'], env);
  assert.deepEqual([code, out], [2, '']);
  assert.match(
    err,
    /^No model configured \(ANTHROPIC_API_KEY is set, but a key is used only for a model that you chose\): .*--model anthropic\//,
  );
  assert.equal(err.split('\n').length, 2);
  assert.deepEqual([local.requests.length, company.requests.length], [0, 0]);
  const json = await bare.run(['hello', '--json'], env);
  assert.equal(json.code, 2);
  assert.match(json.out, /"is_error":true/);
});

test('[J101] naming a model is a choice: its provider is used, once, and the default stays unset', async (t) => {
  const bare = await createBareStart(t);
  const [local, company] = [await serve(t), await serve(t, [{ id: 'claude-x' }])];
  const env = { OLLAMA_HOST: local.url, OPENAI_API_KEY: 'sk-secret', OPENAI_BASE_URL: `${company.url}/v1` };
  assert.equal((await bare.run(['--model', 'qwen3:8b', 'to this machine'], env)).out, 'You said: to this machine\n');
  assert.equal((await bare.run(['--model', 'ollama/gemma3:4b', 'again'], env)).out, 'You said: again\n');
  assert.equal(company.requests.length, 0);
  assert.equal(
    (await bare.run(['--model', 'openai/claude-x', 'to the company'], env)).out,
    'You said: to the company\n',
  );
  assert.equal(company.requests.filter(({ format }) => format !== undefined).length, 1);
  assert.doesNotMatch(JSON.stringify(local.requests), /to the company/);
  assert.equal(bare.lastModel(), undefined);
});

test(
  '[J27, J28, J67, J101] first start with a server and a key: local models first, each with where the text goes; no key is used; the model is remembered once it has answered',
  { skip },
  async (t) => {
    const bare = await createBareStart(t);
    const [local, company] = [await serve(t), await serve(t, [{ id: 'claude-x' }])];
    const env = { OLLAMA_HOST: local.url, ANTHROPIC_API_KEY: 'sk-secret', ANTHROPIC_BASE_URL: company.url };
    const start = await bare.open([], env);
    const screen = await start.waitFor(/Exit/);
    assert.match(
      screen,
      /No model configured\. Choose one; the right column says where your text goes:\n>\s*\n→ ollama\/qwen3:8b +this machine *\n +ollama\/gemma3:4b +this machine · cannot call tools *\n +anthropic … +Anthropic \(127\.0\.0\.1:\d+\) · ANTHROPIC_API_KEY is set *\n +Enter a key .*\n +Download a small model +this machine · needs no key and no server *\n +Exit/,
    );
    await answerPrompt(start, /Exit/, 'Enter');
    await start.waitFor(/Fairlead with qwen3:8b/);
    assert.equal(bare.lastModel(), undefined, 'not before an answer');
    await enterLine(start, 'hello');
    await start.waitFor(/You said: hello/);
    await enterLine(start, '/exit');
    assert.equal(await waitForExitCode(start), 0);
    assert.equal(bare.lastModel(), 'ollama/qwen3:8b');
    assert.equal(company.requests.length, 0, 'the key was not used');
    const next = await bare.open([], env);
    await next.waitFor(/Fairlead with qwen3:8b/);
  },
);

test(
  '[J28, J101] first start with a key alone asks: the company is contacted only after it was chosen',
  { skip },
  async (t) => {
    const bare = await createBareStart(t);
    const company = await serve(t, [{ id: 'able-one' }, { id: 'able-two' }]);
    const env = { OPENAI_API_KEY: 'sk-secret', OPENAI_BASE_URL: `${company.url}/v1` };
    const left = await bare.open([], env);
    await answerPrompt(left, /openai … +OpenAI \(127\.0\.0\.1:\d+\) · OPENAI_API_KEY is set/, 'Escape');
    assert.equal(await waitForExitCode(left), 1);
    assert.equal(company.requests.length, 0);
    const start = await bare.open([], env);
    await answerPrompt(start, /openai …/, 'Enter');
    await answerPrompt(
      start,
      /Which model\? Your text goes to OpenAI \(127\.0\.0\.1:\d+\)\.\n>\s*\n→ able-one/,
      'Down',
      'Enter',
    );
    await start.waitFor(/Fairlead with able-two/);
    await enterLine(start, 'hello');
    await start.waitFor(/You said: hello/);
    // The model is written to disk after the answer is shown.
    await enterLine(start, '/exit');
    assert.equal(await waitForExitCode(start), 0);
    assert.equal(bare.lastModel(), 'openai/able-two');
  },
);

test(
  'first start with nothing says so, and offers a key, the embedded model and the exit; --plain too',
  { skip },
  async (t) => {
    const bare = await createBareStart(t);
    const start = await bare.open([]);
    const screen = await start.waitFor(/Exit/);
    assert.match(
      screen,
      /No model server answers on this machine, and no key is set\. Try fairlead demo: a tour that needs no\s+model\./,
    );
    assert.match(screen, /→ Enter a key/);
    await answerPrompt(start, /Exit/, 'Down', 'Down', 'Enter');
    assert.equal(await waitForExitCode(start), 1);
    const plain = await bare.open(['--plain']);
    await plain.waitFor(/3\) Exit|3[.:]? *Exit/);
  },
);

test('[J101] a resumed session uses its own model in a pipe, also that of a company; other starts still need a choice', async (t) => {
  const server = await serve(t);
  const start = await createBareStart(t);
  const url = { OLLAMA_API_URL: server.url };
  assert.equal((await start.run(['--model', 'ollama/qwen3:8b', 'one'], url)).code, 0);
  assert.deepEqual(await start.run(['--continue', 'two'], url), { code: 0, out: 'You said: two\n', err: '' });
  assert.equal((await start.run(['three'], url)).code, 2, 'the session is no default for new ones');
  const company = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'sk-ant-test' };
  assert.equal(
    (await start.run(['--model', 'anthropic/claude-sonnet-4-5', '--session-name', 'cloud', 'four'], company)).code,
    0,
  );
  const asked = server.requests.length;
  assert.equal((await start.run(['five'], company)).code, 2);
  assert.equal(server.requests.length, asked, 'the key is not used for a new session');
  assert.deepEqual(await start.run(['--resume', 'cloud', 'six'], company), {
    code: 0,
    out: 'You said: six\n',
    err: '',
  });
});

test('a session that moved to another provider or host continues there in a pipe, never at the one that it left', async (t) => {
  const [company, own] = [await serve(t), await serve(t)];
  const start = await createBareStart(t);
  const urls = {
    HF_TOKEN: 'hf_test',
    ANTHROPIC_API_KEY: 'sk-ant-test',
    ANTHROPIC_BASE_URL: company.url,
    OLLAMA_API_URL: own.url,
  };
  const named = ['--session-name', 'moved'];
  assert.equal((await start.run(['--model', 'anthropic/qwen3:8b', ...named, 'one'], urls)).code, 0);
  const left = company.requests.length;
  assert.equal((await start.run(['--model', 'ollama/qwen3:8b', '--resume', 'moved', 'two'], urls)).code, 0);
  assert.equal((await start.run(['--resume', 'moved', 'three'], urls)).out, 'You said: three\n');
  assert.equal(company.requests.length, left, 'the session left this provider');
  const elsewhere = await start.run(['--resume', 'moved', 'four'], {
    ...urls,
    OLLAMA_API_URL: 'http://ollama.invalid',
  });
  assert.equal(elsewhere.code, 2, elsewhere.err);
  assert.match(elsewhere.err, /No model configured/);

  assert.equal((await start.run(['--model', 'anthropic/m', '--session-name', 'custom', 'one'], urls)).code, 0);
  const { ANTHROPIC_BASE_URL: _, ...unset } = urls;
  const publicHost = await start.run(['--resume', 'custom', 'two'], unset);
  assert.equal(publicHost.code, 2, publicHost.err);
});

test('a model that never answered is not remembered', { skip }, async (t) => {
  const bare = await createBareStart(t);
  const start = await bare.open(['--model', 'lm-studio/x']);
  await start.waitFor(/Fairlead with lm-studio\/x/);
  await enterLine(start, 'hello');
  await start.waitFor(/Cannot connect to lm-studio/);
  await enterLine(start, '/exit');
  assert.equal(await waitForExitCode(start), 0);
  assert.equal(bare.lastModel(), undefined);
  const once = await bare.run(['--model', 'lm-studio/x', 'hi']);
  assert.equal(once.code, 7);
  assert.equal(bare.lastModel(), undefined);
});

test('a server that cannot be reached is one sentence with exit code 7; a wrong provider or model is named', async (t) => {
  const bare = await createBareStart(t);
  const closed = { OLLAMA_API_URL: 'http://localhost:9' };
  for (const args of [['--model', 'ollama/x', 'hi'], ['hi']]) {
    const { code, out, err } = await bare.run(args, closed);
    assert.deepEqual([code, out], [7, ''], err);
    assert.match(
      err,
      /^(The model request failed\. )?Cannot connect to ollama at http:\/\/localhost:9\/?: [^\n]* Is the server running at http:\/\/localhost:9\/?\? Start it, or name another model\.\n$/,
    );
  }
  const server = await serve(t);
  const open = { OLLAMA_API_URL: server.url };
  const provider = await bare.run(['--model', 'bad/name', 'hi'], open);
  assert.equal(provider.code, 1);
  assert.match(
    provider.err,
    /^There is no provider "bad", and ollama \(\S+\) has no model "bad\/name"\. Providers: anthropic, /,
  );
  const model = await bare.run(['--model', 'ollama/qwen3:9b', 'hi'], open);
  assert.match(model.err, /^ollama \(\S+\) has no model "qwen3:9b"\. Did you mean qwen3:8b\?/);
});

test(
  '[P9] a map of names to models in the settings: usable as --model and /model, and checked',
  { skip },
  async (t) => {
    const bare = await createBareStart(t);
    const server = await serve(t);
    const env = { OLLAMA_HOST: server.url };
    mkdirSync(bare.config(), { recursive: true });
    writeFileSync(
      bare.config('config.json'),
      JSON.stringify({ models: { fast: 'ollama/gemma3:4b', claude: 'anthropic/claude-x', model: 'ollama/qwen3:8b' } }),
    );
    const { code, out } = await bare.run(['--model', 'fast', 'hi'], env);
    assert.deepEqual([code, out], [0, 'You said: hi\n']);
    const sent = server.requests.findLast(({ format }) => format !== undefined)?.body as { readonly model: string };
    assert.equal(sent.model, 'gemma3:4b');
    const claude = await bare.run(['--model', 'claude', 'hi'], env);
    assert.match(claude.err, /anthropic needs a key/);
    assert.equal((await bare.run(['config', 'set', 'models.big', 'ollama/qwen3:8b'])).code, 0);
    assert.equal((await bare.run(['config', 'get', 'models.big'])).out, 'ollama/qwen3:8b\n');
    assert.match(
      (await bare.run(['config', 'set', 'models.big', 'qwen'])).err,
      /models\.big must be a model, <provider>\/<model>/,
    );
    const start = await bare.open(['--model', 'fast'], env);
    await start.waitFor(/Fairlead with (ollama\/)?gemma3:4b/);
    await enterLine(start, '/model big');
    await start.waitFor(/The next answer comes from (ollama\/)?qwen3:8b\. Your text goes to this machine\./);
  },
);

test(
  '[J101] first start, download a small model: the hub is asked only after this choice; rows with size, licence and ability; a cancelled download shows the list again',
  { skip },
  async (t) => {
    const bare = await createBareStart(t);
    installFakeRuntime(bare.data());
    const repo = {
      files: { 'Qwen3-0.6B-Q8_0.gguf': createGguf(jinja.tools, 3_000_000) },
      license: 'apache-2.0',
      chatTemplate: jinja.tools,
    };
    const hub = await serveHub(t, { 'Qwen/Qwen3-0.6B-GGUF': repo });
    hub.holdAfter = 1_000_000;
    const start = await bare.open([], { HF_ENDPOINT: hub.url });
    await start.waitFor(/Exit/);
    assert.equal(hub.requests.length, 0, 'nothing is sent before a choice');
    await answerPrompt(start, /Exit/, 'Down', 'Enter');
    const offered =
      /Download which model\? It runs on this machine; 127\.0\.0\.1:\d+ sends the file\.\n>\s*\n→ Qwen3 0\.6B +54 MB · apache-2\.0 · short questions about one file; often wrong *\n +TinyLlama 1\.1B +373 MB · Apache-2\.0 · slow and unreliable; a last resort *\n +Back/;
    await answerPrompt(start, offered, 'Enter');
    await start.waitFor(/Downloading the model … \d+ %/);
    await start.keys('Escape');
    await start.waitFor(
      /The download of Qwen3-0\.6B-Q8_0 was cancelled\.[^]*No model configured\. Choose one; the right column says where your text goes:[^]*Exit/,
    );
    await answerPrompt(start, /Exit/, 'Down', 'Enter');
    await answerPrompt(start, offered, 'Enter');
    await start.waitFor(/Fairlead with embedded\/hf:Qwen\/Qwen3-0\.6B-GGUF:Q8_0/);
    await enterLine(start, 'SAY:hello');
    await start.waitFor(/^ *hello$/m);
    await enterLine(start, '/exit');
    assert.equal(await waitForExitCode(start), 0);
    assert.equal(bare.lastModel(), 'embedded/hf:Qwen/Qwen3-0.6B-GGUF:Q8_0');
    const ranges = hub.requests.filter(({ host }) => host === 'storage').map(({ headers }) => headers.range);
    assert.deepEqual(ranges, [undefined, 'bytes=1000000-']);
  },
);

test(
  'first start where the hub cannot be reached says so and offers TinyLlama alone; Back shows the list again',
  { skip },
  async (t) => {
    const bare = await createBareStart(t);
    const start = await bare.open([], { HF_ENDPOINT: await closedUrl() });
    await answerPrompt(start, /Exit/, 'Down', 'Enter');
    await answerPrompt(
      start,
      /127\.0\.0\.1:\d+ cannot be reached, so only TinyLlama is offered\.[^]*Download which model\? It runs on this machine\.\n>\s*\n→ TinyLlama 1\.1B .*\n +Back/,
      'Down',
      'Enter',
    );
    await answerPrompt(start, /Exit/, 'Escape');
    assert.equal(await waitForExitCode(start), 1);
  },
);
