// Routing in the real program, between a local and a cloud server: which model is selected, what is recorded, and what is never sent to the cloud.
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Event } from '../src/core/index.ts';
import { scriptedServer, type ScriptedServer } from '../src/testing/index.ts';
import { openAcpSession, startAcpClient, sendPrompt, getUpdateText } from './support/acp-client.ts';
import { scriptHiddenCalls } from './support/hidden-tools.ts';
import { createProgram, type TestProgram } from './support/cli-harness.ts';
import { writeFiles, source } from './support/program-dirs.ts';

const simple = 'Fix the typo in README.md';
const hard = 'Design the architecture of a distributed queue, implement it, and prove that it has no deadlock';

type TwoServers = TestProgram & { readonly cloud: ScriptedServer; readonly env: Readonly<Record<string, string>> };

/** The program with a local server and a cloud server, and a router over both. */
async function startTwoServers(t: TestContext, router: object = {}): Promise<TwoServers> {
  const program = await createProgram(t, ({ prompt }) => `local: ${prompt.slice(0, 20)}`);
  const cloud = await scriptedServer(({ prompt }) => ({
    text: `cloud: ${prompt.slice(0, 20)}`,
    usage: { input: 1000, output: 100 },
  }));
  t.after(() => cloud.close());
  await program.seedModels();
  writeFiles(program.config(), {
    'config.json': JSON.stringify({
      routers: { auto: { models: ['ollama/qwen3', 'anthropic/claude-sonnet-5'], ...router } },
    }),
  });
  const env = { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: `${cloud.url}/v1` };
  return { ...program, cloud, env: { ...program.env, ...env } };
}

const countRequests = (server: ScriptedServer): number =>
  server.requests.filter(({ format }) => format !== undefined).length;

const readSessionEvents = (program: TestProgram, name: string): readonly Event[] =>
  program
    .session(name)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Event)
    .filter(({ type }) => type !== undefined);

const getAnnotations = (
  events: readonly Event[],
  key: string,
): readonly { readonly model: string; readonly [name: string]: unknown }[] =>
  events.flatMap((event) => (event.type === 'annotation-added' && event.key === key ? [event.value as never] : []));

test('[P69] on a first start one command defines a router: simple tasks stay local and cost nothing, hard ones go to the cloud model', async (t) => {
  const program = await startTwoServers(t);
  const { env } = program;
  rmSync(program.config('config.json'));
  const unset = await program.run(['-m', 'auto', '-p', simple], { env });
  assert.match(unset.err, /There is no router "auto"[^]*fairlead config set routers\.auto "ollama\/qwen3:8b anthropic/);
  assert.deepEqual([countRequests(program.server), countRequests(program.cloud)], [0, 0]);
  const models = 'ollama/qwen3 anthropic/claude-sonnet-5';
  assert.equal((await program.run(['config', 'set', 'routers.auto', models], { env })).code, 0);
  assert.equal((await program.call(['config', 'get', 'routers.auto'], { env })).out, `${models}\n`);
  const easy = await program.call(['-m', 'auto', '-p', simple, '--json'], { env });
  const complex = await program.call(['-m', 'auto', '-p', hard, '--json'], { env });
  type Ended = { readonly total_cost_usd: number; readonly model: string };
  const readEnd = (out: string): Ended => JSON.parse(out.trim().split('\n').at(-1) ?? '') as Ended;
  const [cheap, accurate] = [readEnd(easy.out), readEnd(complex.out)];
  assert.deepEqual([cheap.model, cheap.total_cost_usd], ['ollama/qwen3', 0]);
  assert.deepEqual([accurate.model, accurate.total_cost_usd], ['anthropic/claude-sonnet-5', 0.003]);
  assert.deepEqual([countRequests(program.server), countRequests(program.cloud)], [1, 1]);
  const wrong = await program.call(['config', 'set', 'routers.auto', 'qwen3'], { env });
  assert.match(wrong.err, /must be models, <provider>\/<model>, separated by spaces/);
});

test('[P43, P59, P69] a simple task is routed to the local model and a hard one to the cloud, each announced before it is sent and recorded', async (t) => {
  const program = await startTwoServers(t);
  const { env } = program;
  const first = await program.call(['-m', 'auto', '-p', simple, '-n', 'one'], { env });
  assert.deepEqual([first.code, first.out], [0, 'local: Fix the typo in READ\n'], first.err);
  assert.match(
    first.err,
    /^\[Simple task, \d+\.\d %\] Using the local model ollama\/qwen3\. Ahead of anthropic\S+ by cost/m,
  );
  assert.equal(countRequests(program.cloud), 0);
  const second = await program.call(['-m', 'auto', '-p', hard, '-n', 'two'], { env });
  assert.deepEqual([second.code, second.out.slice(0, 6)], [0, 'cloud:'], second.err);
  assert.match(
    second.err,
    /^\[Complex task, \d+\.\d %\] Using the cloud model anthropic\/claude-sonnet-5\. .*task: trusted with 95 %/m,
  );
  assert.deepEqual(
    [countRequests(program.server), countRequests(program.cloud)],
    [1, 1],
    'each task is sent to one server',
  );
  const [sent] = program.cloud.requests.filter(({ format }) => format !== undefined);
  assert.equal(sent?.format, 'anthropic');
  const events = readSessionEvents(program, 'two');
  const [chosen] = getAnnotations(events, 'routing/chosen');
  assert.equal(chosen?.model, 'anthropic/claude-sonnet-5');
  assert.match(JSON.stringify(chosen), /"scores":\{"task":1,"cost":/);
  const [ended] = events.flatMap((event) => (event.type === 'turn-ended' ? [event] : []));
  assert.equal(ended?.usd, (1000 * 2 + 100 * 10) / 1e6, 'the price is that of the model that answered');
});

test('[P59] one selection applies to a whole run; a change between messages is a new epoch with the reason', async (t) => {
  const program = await startTwoServers(t);
  const { env } = program;
  await program.call(['-m', 'auto', '-p', simple, '-n', 'talk'], { env });
  await program.call(['-m', 'auto', '-p', hard, '--resume', 'talk'], { env });
  const events = readSessionEvents(program, 'talk');
  const epochs = events.flatMap((event) => (event.type === 'epoch-started' ? [[event.reason, event.model]] : []));
  assert.deepEqual(epochs, [
    ['started', 'qwen3'],
    ['model-changed', 'claude-sonnet-5'],
  ]);
  assert.deepEqual(
    getAnnotations(events, 'routing/chosen').map(({ model }) => model),
    ['ollama/qwen3', 'anthropic/claude-sonnet-5'],
  );
  assert.match(
    JSON.stringify(program.cloud.requests.at(-1)?.body),
    /local: Fix the typo/,
    'the cloud model gets the earlier messages',
  );
});

test('[P59, P75] a local model that fails is replaced by the next one, which is recorded, and is not used for a while', async (t) => {
  const program = await startTwoServers(t);
  const { env } = program;
  program.server.setScript(() => ({ error: { status: 500, message: 'out of memory' } }));
  const { code, out, err } = await program.run(['-m', 'auto', '-p', simple, '-n', 'fall'], { env });
  assert.deepEqual([code, out], [0, 'cloud: Fix the typo in READ\n'], err);
  const events = readSessionEvents(program, 'fall');
  assert.equal(getAnnotations(events, 'routing/failed')[0]?.model, 'ollama/qwen3');
  const types = events.flatMap((event) =>
    event.type === 'run-ended' ? [event.reason] : event.type === 'epoch-started' ? [event.model] : [],
  );
  assert.deepEqual(types, ['qwen3', 'provider-error', 'claude-sonnet-5', 'answered']);
  const asked = countRequests(program.server);
  program.server.setScript(() => 'local again');
  const soon = await program.run(['-m', 'auto', '-p', simple], { env });
  assert.match(soon.err, /ollama\/qwen3: it could not be reached a moment ago/);
  assert.equal(countRequests(program.server), asked, 'it is not used');
  writeFiles(program.config(), {
    'config.json': JSON.stringify({
      routers: { auto: { coolMs: 0, models: ['ollama/qwen3', 'anthropic/claude-sonnet-5'] } },
    }),
  });
  const later = await program.run(['-m', 'auto', '-p', simple], { env });
  assert.equal(later.out, 'local again\n', 'it is used again');
});

for (const [how, args, files] of [
  ['--private', ['--private'], {}],
  ['the setting of a project', [], { '.fairlead/config.json': '{"private": true}' }],
  ['a line in AGENTS.md', [], { 'AGENTS.md': '# Here\n\nprivate: true\n' }],
] as const)
  test(`[P43] private input stays local however hard it is, by ${how}, also after the label is removed and when the local model fails`, async (t) => {
    const program = await startTwoServers(t);
    const { env } = program;
    writeFiles(program.cwd, files);
    const first = await program.run(['-m', 'auto', '-p', hard, '-n', 'secret', ...args], { env });
    assert.deepEqual([first.code, first.out.slice(0, 6)], [0, 'local:'], first.err);
    assert.match(first.err, /anthropic\/claude-sonnet-5: this is private/);
    for (const name of Object.keys(files))
      writeFileSync(path.join(program.cwd, name), name.endsWith('.json') ? '{}' : '');
    const second = await program.run(['-m', 'auto', '-p', hard, '--resume', 'secret'], { env });
    assert.deepEqual([second.code, second.out.slice(0, 6)], [0, 'local:'], second.err);
    const named = await program.run(['-m', 'anthropic/claude-sonnet-5', '-p', 'x', '--resume', 'secret'], { env });
    assert.equal(named.code, 1);
    assert.match(named.err, /This session is private, and anthropic\/claude-sonnet-5 is not on your own machines/);
    program.server.setScript(() => ({ error: { status: 500, message: 'broken' } }));
    const failed = await program.run(['-m', 'auto', '-p', simple, '--clone-session', 'secret'], { env });
    assert.notEqual(failed.code, 0, 'a copy is private too');
    assert.equal(program.cloud.requests.length, 0);
  });

test('[P43] models route shows the selection and its scores and sends no request', async (t) => {
  const program = await startTwoServers(t);
  const { env } = program;
  const shown = await program.run(['models', 'route', hard], { env });
  assert.equal(shown.code, 0, shown.err);
  assert.match(shown.out, /^\[Complex task.*anthropic\/claude-sonnet-5/);
  assert.match(shown.out, /^model +where +total +task ×3 +cost ×2/m);
  const told = JSON.parse((await program.call(['models', 'route', '--private', '--json', hard], { env })).out) as {
    model: string;
  };
  assert.equal(told.model, 'ollama/qwen3');
  const none = await program.call(['models', 'route', '--router', 'atuo', hard], { env });
  assert.deepEqual([none.code, none.out], [1, '']);
  assert.match(none.err, /There is no router "atuo" in .* Did you mean router:auto\?/);
  assert.equal(countRequests(program.server) + program.cloud.requests.length, 0);
});

test('[P73] the weights decide: a user can select everything local or everything in the cloud', async (t) => {
  const cheap = await startTwoServers(t, { weights: { task: 0 } });
  assert.match((await cheap.call(['models', 'route', hard], { env: cheap.env })).out, /Using the local model/);
  const good = await startTwoServers(t, {
    weights: { cost: 0 },
    models: [{ model: 'ollama/qwen3', quality: 0.05 }, 'anthropic/claude-sonnet-5'],
  });
  assert.match(
    (await good.call(['models', 'route', 'Explain the build'], { env: good.env })).out,
    /Using the cloud model/,
  );
  const words = await startTwoServers(t, { words: { gadget: 0.9 } });
  assert.match(
    (await words.run(['models', 'route', 'Make a gadget'], { env: words.env })).out,
    /Using the cloud model.*\nBecause of "gadget"/,
  );
});

test('[P35, P69] models savings shows what was saved compared with sending everything to the cloud', async (t) => {
  const program = await startTwoServers(t);
  const { env } = program;
  program.server.setScript(() => ({ text: 'local', usage: { input: 1000, output: 100 } }));
  await program.run(['-m', 'auto', '-p', simple, '-n', 'a'], { env });
  await program.run(['-m', 'auto', '-p', hard, '-n', 'b'], { env });
  const { out, err } = await program.run(['models', 'savings'], { env });
  assert.match(out, /^qwen3 +1 +1,000 +100 +\$0\.00$/m, err);
  assert.match(out, /^claude-sonnet-5 +1 +1,000 +100 +\$0\.003000$/m);
  assert.match(
    out,
    /With anthropic\/claude-sonnet-5 alone .* the cost would have been \$0\.006000 if .*, \$0\.006000 without/,
  );
  assert.match(out, /^Saved: \$0\.003000\.$/m);
  const unknown = await program.run(['models', 'savings', 'a', '--against', 'groq/some-model'], { env });
  assert.match(unknown.out, /The price of groq\/some-model is unknown, so the savings are unknown/);
});

test('[P43] at the prompt: /model auto routes the next messages, and the status line shows the selected model', async (t) => {
  const program = await startTwoServers(t);
  const { env } = program;
  const { code, out } = await program.run(['--interactive', '-m', 'qwen3', '-n', 'talk'], {
    env,
    input: `/model auto\n${hard}\n${simple}\n`,
  });
  assert.equal(code, 0, out);
  assert.match(out, /Using the cloud model anthropic\/claude-sonnet-5/);
  assert.deepEqual([countRequests(program.cloud), countRequests(program.server)], [1, 1], out);
  assert.equal(readFileSync(program.state('previous_model_name'), 'utf8'), 'auto\n');
});

test('[P43] a sub-agent of a private session cannot use a remote model either', async (t) => {
  const program = await startTwoServers(t);
  const { env } = program;
  program.server.setScript(scriptHiddenCalls([['spawn_agent', { task: 'look', model: 'anthropic/claude-sonnet-5' }]]));
  const { out, err } = await program.run(['-m', 'qwen3', '--private', '--auto-approve', '-p', 'go'], { env });
  assert.match(out, /This session is private, and anthropic\/claude-sonnet-5 is not on your own machines/, err);
  assert.equal(program.cloud.requests.length, 0);
});

test('without a router no routing code is loaded', async (t) => {
  const program = await startTwoServers(t);
  const trace = path.join(program.home, 'loaded.txt');
  const hook = path.join(program.home, 'hook.mjs');
  writeFileSync(
    hook,
    `import { registerHooks } from 'node:module';
import { appendFileSync } from 'node:fs';
registerHooks({ load: (url, context, next) => (appendFileSync(${JSON.stringify(trace)}, url + '\\n'), next(url, context)) });`,
  );
  const env = { ...program.env, NODE_OPTIONS: `--import ${hook}` };
  const { code, err } = await program.run(['-m', 'qwen3', '-p', 'hi'], { env, file: source });
  assert.equal(code, 0, err);
  const loaded = readFileSync(trace, 'utf8');
  assert.match(loaded, /conversation\.ts/);
  assert.doesNotMatch(loaded, /\/routing\//);
});

test('[P43] a rewind, another directory and another session do not send private input to a remote model', async (t) => {
  const program = await startTwoServers(t);
  const { env } = program;
  await program.run(['-m', 'auto', '-p', simple, '-n', 'talk'], { env });
  const lines = (...input: readonly string[]): string => input.map((line) => `${line}\n`).join('');
  const back = await program.run(['--interactive', '-m', 'auto', '--private', '--resume', 'talk'], {
    env,
    input: lines(hard, '/rewind', '2', '/model anthropic/claude-sonnet-5', hard),
  });
  assert.match(back.out, /Which message/i);
  assert.match(back.out, /This session is private, and anthropic\/claude-sonnet-5 is not on your own machines/);
  const events = readSessionEvents(program, 'talk');
  assert.ok(
    events.some((event) => event.type === 'branch-started'),
    back.out,
  );
  const labels = events.filter((event) => event.type === 'annotation-added' && event.key === 'privacy/labelled');
  assert.equal(labels.length, 2, 'the branch without the label is labelled again');
  assert.deepEqual([countRequests(program.server), program.cloud.requests.length], [3, 0]);

  writeFiles(program.home, { 'own/AGENTS.md': 'private: true\n' });
  const away = await program.run(['--interactive', '-m', 'anthropic/claude-sonnet-5'], {
    env,
    input: lines('hello', '/resume talk', '/cwd ../own', 'hello again'),
  });
  assert.equal(away.out.match(/This session is private, and anthropic/g)?.length, 2, away.out);
  assert.equal(countRequests(program.cloud), 2, 'input that is not private continues');
  assert.doesNotMatch(JSON.stringify(program.cloud.requests.map(({ body }) => body)), /typo/);
});

test('[P43] an editor gets the selected model and the reason, before the answer', async (t) => {
  const program = await startTwoServers(t);
  const editor = startAcpClient(t, program, undefined, ['--model', 'auto']);
  const id = await openAcpSession(editor, program);
  assert.equal(await sendPrompt(editor, id, hard), 'end_turn', editor.stderr());
  const updates = editor.updatesOf(id);
  assert.match(
    getUpdateText(updates, 'agent_thought_chunk'),
    /Using anthropic\/claude-sonnet-5\. Ahead of ollama\/qwen3 by task/,
  );
  assert.match(getUpdateText(updates, 'agent_message_chunk'), /^cloud:/);
  const kinds = updates.map(({ sessionUpdate }) => sessionUpdate);
  assert.ok(kinds.indexOf('agent_thought_chunk') < kinds.indexOf('agent_message_chunk'));
});

test('[P69] results of earlier runs count, each once, also those of the current session', async (t) => {
  const program = await startTwoServers(t);
  const { env } = program;
  await program.run(['-m', 'auto', '-p', simple, '-n', 'talk'], { env });
  const scores = async (): Promise<string> => (await program.run(['models', 'route', simple], { env })).out;
  assert.match(await scores(), /ollama\/qwen3:\n(?:.*\n)*? +success +1 of 1 runs like this \(change\) ended well/);
  const again = await program.run(['-m', 'auto', '-p', simple, '--resume', 'talk'], { env });
  assert.equal(again.code, 0, again.err);
  const { ratings } = getAnnotations(readSessionEvents(program, 'talk'), 'routing/chosen')[1] as unknown as {
    readonly ratings: readonly { readonly scores: { readonly success: number } }[];
  };
  const success = ratings[0]?.scores.success ?? 0;
  // From the prior of 0.8, one good run gives 0.89, and counting it twice would give 0.93.
  assert.ok(success > 0.87 && success < 0.91, String(success));
  assert.match(await scores(), /success +2 of 2 runs like this/);
});
