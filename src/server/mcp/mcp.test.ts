// Tests of the MCP server: the real program driven by the client of the MCP SDK, with tools, refusals, approvals and a complete run.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { bin, requestMessages, createProgram, waitUntil, type TestProgram } from '../../../test/support/cli-harness.ts';
import { writeFiles } from '../../../test/support/program-dirs.ts';
import { noSandbox } from '../../../test/support/sandbox.ts';
import { calls, says } from '../../testing/index.ts';
import { getLockOwner } from '../../sessions/index.ts';

// Commands always run in the sandbox here.
const skip = await noSandbox();

type Answer = 'once' | 'always' | 'no';

/** The options of a client. */
type Wanted = {
  readonly args?: readonly string[];
  /** The answer of the user to elicitations; without it the client does not support them. */
  readonly answer?: (message: string) => Answer | undefined | Promise<Answer | undefined>;
  /** The protocol version that the client requests. */
  readonly modern?: boolean;
};

function clientThat({ answer, modern }: Wanted): Client {
  const client = new Client(
    { name: 'a test', version: '1' },
    {
      ...(answer ? { capabilities: { elicitation: { form: {} } } } : {}),
      versionNegotiation: { mode: modern ? 'auto' : 'legacy' },
    },
  );
  if (answer)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const said = await answer(params.message);
      return said === undefined ? { action: 'decline' } : { action: 'accept', content: { answer: said } };
    });
  return client;
}

async function connect(t: TestContext, made: TestProgram, wanted: Wanted = {}): Promise<Client> {
  const client = clientThat(wanted);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'mcp', 'serve', ...(wanted.args ?? [])],
    cwd: made.cwd,
    env: { ...made.env },
    stderr: 'pipe',
  });
  await client.connect(transport);
  t.after(() => client.close());
  return client;
}

const call = (client: Client, name: string, args: Record<string, unknown>): Promise<CallToolResult> =>
  client.callTool({ name, arguments: args });

const wordsOf = ({ content }: CallToolResult): string =>
  content.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** Returns the result of a run. */
const cameOf = ({ structuredContent }: CallToolResult): Readonly<Record<string, unknown>> =>
  structuredContent as Readonly<Record<string, unknown>>;

test('[A14] a client lists the tools and reads without approval; a change or a secret is refused if the client cannot ask its user', async (t) => {
  const made = await createProgram(t);
  writeFileSync(path.join(made.cwd, 'a.txt'), 'hello\n');
  writeFileSync(path.join(made.cwd, '.env'), 'KEY=1\n');
  const client = await connect(t, made);
  assert.equal(client.getServerVersion()?.name, 'fairlead');
  const { tools } = await client.listTools();
  const effects = new Map(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]));
  for (const [name, reads] of [
    ['read_file', true],
    ['grep', true],
    ['write_file', false],
    ['run_command', false],
    ['run_agent', false],
  ] as const)
    assert.equal(effects.get(name), reads, name);
  const labels = { ifc: { integrity: 'untrusted', confidentiality: 'private' } };
  assert.deepEqual(await call(client, 'read_file', { path: 'a.txt' }), {
    content: [{ type: 'text', text: 'hello' }],
    _meta: labels,
  });
  for (const [name, args] of [
    ['write_file', { path: 'b.txt', content: 'x' }],
    ['run_command', { command: 'touch b.txt' }],
    ['read_file', { path: '.env' }],
  ] as const) {
    const refused = await call(client, name, args);
    assert.equal(refused.isError, true);
    assert.match(wordsOf(refused), /needs approval.*--allow-write/);
  }
  assert.equal(existsSync(path.join(made.cwd, 'b.txt')), false);
  const unfit = await call(client, 'read_file', { nothing: 1 });
  assert.match(wordsOf(unfit), /do not fit the schema of read_file/);
  const outside = await call(client, 'read_file', { path: '../../etc/passwd' });
  assert.equal(outside.isError, true);
  assert.equal(made.modelRequests().length, 0, 'a call of the client sends no request to the model');
});

test('[A14] deferred tools are listed for a client at once, except those that need a model; a missing sandbox is a warning', async (t) => {
  const made = await createProgram(t);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [bin, 'mcp', '--no-sandbox', '--allow-write'],
    cwd: made.cwd,
    env: { ...made.env },
    stderr: 'pipe',
  });
  let warned = '';
  transport.stderr?.on('data', (text) => (warned += String(text)));
  const client = clientThat({});
  await client.connect(transport);
  t.after(() => client.close());
  const names = (await client.listTools()).tools.map(({ name }) => name);
  assert.ok(names.includes('delete_file') && names.includes('run_code'));
  for (const name of ['load_tools', 'use_tool', 'spawn_agent', 'manage_agents']) assert.ok(!names.includes(name), name);
  writeFileSync(path.join(made.cwd, 'old.txt'), 'old\n');
  assert.notEqual((await call(client, 'delete_file', { path: 'old.txt' })).isError, true);
  assert.equal(existsSync(path.join(made.cwd, 'old.txt')), false);
  const ran = await call(client, 'run_command', { command: 'echo $HOME' });
  assert.equal(wordsOf(ran).trim(), `${made.home}\n[Exit code: 0.]`, 'it ran as the user, with their home directory');
  await waitUntil('the warning is there', () => /^WARNING: no sandbox\. /m.test(warned));
});

for (const modern of [false, true])
  test(
    `the user of a client of the ${modern ? 'newer' : 'older'} protocol is asked: a yes counts for that call, "always" for its kind, a no denies it`,
    { skip },
    async (t) => {
      const made = await createProgram(t);
      const asked: string[] = [];
      const said: (Answer | undefined)[] = ['once', 'always', 'no', undefined];
      const answer = (message: string): Answer | undefined => {
        asked.push(message);
        return said.shift();
      };
      const client = await connect(t, made, { answer, modern });
      assert.equal(client.getProtocolEra(), modern ? 'modern' : 'legacy');
      const run = (command: string): Promise<CallToolResult> => call(client, 'run_command', { command });
      assert.equal((await run('echo a >> log')).isError, undefined);
      assert.equal((await run('echo a >> log')).isError, undefined);
      assert.equal((await run('echo a >> log')).isError, undefined, 'always');
      for (const command of ['echo b >> log', 'echo c >> log'])
        assert.match(wordsOf(await run(command)), /Denied by user/);
      assert.equal(readFileSync(path.join(made.cwd, 'log'), 'utf8'), 'a\na\na\n');
      assert.equal(asked.length, 4);
      assert.match(asked[0] ?? '', /^Run this command\?\n\$ echo a >> log\nfolder .*\neffects +writes log\nsandbox /);
    },
  );

test('[M31] hooks apply to calls of a client too, and their output does not repeat a call', async (t) => {
  const made = await createProgram(t);
  const one = (command: string, matcher = ''): object => ({ matcher, hooks: [{ type: 'command', command }] });
  const hooks = {
    PreToolUse: [one('exit 2', 'Write')],
    PostToolUse: [one(`echo x >> seen; echo '{"additionalContext":"more"}'`)],
    Stop: [one('exit 2')],
  };
  writeFiles(made.home, { 'config/fairlead/hooks.json': JSON.stringify({ hooks }), 'work/a.txt': 'hello\n' });
  const client = await connect(t, made, { args: ['--allow-write'] });
  assert.equal(wordsOf(await call(client, 'read_file', { path: 'a.txt' })), 'hello');
  assert.equal(readFileSync(path.join(made.cwd, 'seen'), 'utf8'), 'x\n', 'the call was made once');
  const refused = await call(client, 'write_file', { path: 'b.txt', content: 'x' });
  assert.match(wordsOf(refused), /The hook "exit 2" does not allow this call/);
  assert.equal(existsSync(path.join(made.cwd, 'b.txt')), false);
});

test('an approval counts once, for its own call only', { skip }, async (t) => {
  const made = await createProgram(t);
  const client = await connect(t, made, { answer: () => undefined, modern: true });
  const send = (command: string, more: Record<string, unknown> = {}): Promise<unknown> =>
    client.request(
      { method: 'tools/call', params: { name: 'run_command', arguments: { command }, ...more } },
      { allowInputRequired: true },
    );
  // A call has the same id in every run of one call.
  const id = 'c00001000';
  const yes = { inputResponses: { [id]: { action: 'accept', content: { answer: 'once' } } } };
  const ask = async (command: string): Promise<string> => {
    const asked = (await send(command)) as { readonly requestState: string; readonly inputRequests: object };
    assert.deepEqual(Object.keys(asked.inputRequests), [id]);
    return asked.requestState;
  };
  const refused = /No question of this call is open/;
  const other = await ask('echo a >> log');
  assert.match(JSON.stringify(await send('echo b >> log', { ...yes, requestState: other })), refused);
  assert.match(JSON.stringify(await send('echo a >> log', { ...yes, requestState: other })), refused);
  assert.match(JSON.stringify(await send('echo a >> log', { ...yes, requestState: 'made up' })), refused);
  const token = await ask('echo c >> log');
  await send('echo c >> log', { ...yes, requestState: token });
  assert.match(JSON.stringify(await send('echo c >> log', { ...yes, requestState: token })), refused);
  assert.ok(
    'inputRequests' in ((await send('echo d >> log', yes)) as object),
    'an answer without a question is ignored',
  );
  assert.equal(readFileSync(path.join(made.cwd, 'log'), 'utf8'), 'c\n');
});

test('run_agent executes a complete run, and reports progress, result and cost; the session can be continued', async (t) => {
  const made = await createProgram(t, [
    calls('write_file', { path: 'b.txt', content: 'x' }),
    says('Written.'),
    says('It was x.'),
    calls('list_files', {}),
  ]);
  await made.seedModels('qwen3');
  const client = await connect(t, made, { args: ['--allow-write', '--max-turns', '5'] });
  const news: string[] = [];
  const first = await client.callTool(
    { name: 'run_agent', arguments: { prompt: 'Write it.' } },
    { onprogress: ({ message = '' }) => void news.push(message) },
  );
  assert.equal(readFileSync(path.join(made.cwd, 'b.txt'), 'utf8'), 'x');
  assert.deepEqual(news, ['turn 1', 'write_file', 'turn 2']);
  const [name] = made.sessions();
  const { session_id: id, ...came } = cameOf(first);
  assert.deepEqual(came, {
    answer: 'Written.',
    reason: 'answered',
    session: name,
    model: 'qwen3',
    turns: 2,
    usd: 0,
    input_tokens: 20,
    output_tokens: 10,
  });
  const second = await call(client, 'run_agent', { prompt: 'What was it?', session: name });
  assert.equal(wordsOf(second), 'It was x.');
  assert.equal(cameOf(second)['session_id'], id);
  assert.equal(requestMessages(made.modelRequests().at(-1)).length, 5);
  const bounded = await call(client, 'run_agent', { prompt: 'Look.', session: name, max_turns: 1 });
  assert.deepEqual([bounded.isError, cameOf(bounded)['reason']], [true, 'max-turns']);
  for (const [wish, said] of [
    [{}, /"prompt" is missing/],
    [{ prompt: 'x', session: 'nobody' }, /no session with the name or id "nobody"/],
    [{ prompt: 'x', model: 'nobody' }, /has no model "nobody"/],
  ] as const) {
    const wrong = await call(client, 'run_agent', wish);
    assert.equal(wrong.isError, true);
    assert.match(wordsOf(wrong), said);
  }
  assert.deepEqual(made.sessions(), [name]);
});

test('a change of a run asks the user of the client; if the client cannot ask, the run waits in its session', async (t) => {
  const made = await createProgram(t, ({ results, prompt }) =>
    results.length === 0 ? calls('write_file', { path: `${prompt}.txt`, content: 'x' }) : says(results[0] ?? ''),
  );
  await made.seedModels('qwen3');
  const asked: string[] = [];
  const answer = (message: string): Answer => {
    asked.push(message);
    return asked.length === 1 ? 'once' : 'no';
  };
  const client = await connect(t, made, { answer });
  assert.equal((await call(client, 'run_agent', { prompt: 'one' })).isError, undefined);
  assert.match(wordsOf(await call(client, 'run_agent', { prompt: 'two' })), /Denied by user/);
  assert.match(asked[0] ?? '', /^Create one\.txt\?\none\.txt \(new file, \+1 -0\)\n1 \+ x\n/);
  const mute = await connect(t, made);
  const waits = await call(mute, 'run_agent', { prompt: 'three' });
  assert.deepEqual([waits.isError, cameOf(waits)['reason']], [true, 'waiting']);
  assert.match(wordsOf(waits), /Approval required for write_file/);
  for (const [name, there] of [
    ['one', true],
    ['two', false],
    ['three', false],
  ] as const)
    assert.equal(existsSync(path.join(made.cwd, `${name}.txt`)), there, name);
});

test(
  'a cancel of the client cancels the run, and a disconnect ends the program; in both cases the session is complete',
  { skip },
  async (t) => {
    const made = await createProgram(t, () => calls('run_command', { command: 'echo begun >> log; sleep 60' }));
    await made.seedModels('qwen3');
    const log = path.join(made.cwd, 'log');
    const begun = (times: number) => (): boolean =>
      existsSync(log) && readFileSync(log, 'utf8') === 'begun\n'.repeat(times);
    const client = await connect(t, made, { args: ['--allow-write'] });
    const stop = new AbortController();
    const work = client.callTool({ name: 'run_agent', arguments: { prompt: 'a' } }, { signal: stop.signal });
    await waitUntil('the command runs', begun(1));
    stop.abort();
    await assert.rejects(work);
    const [first = ''] = made.sessions();
    await waitUntil('the run has ended', () => made.session(first).includes('"run-ended"'));
    const second = client.callTool({ name: 'run_agent', arguments: { prompt: 'b' } }).catch(() => undefined);
    await waitUntil('the command runs again', begun(2));
    await client.close();
    await second;
    for (const name of made.sessions()) {
      assert.match(made.session(name), /"run-ended","reason":"cancelled"/);
      assert.equal((await made.run(['sessions', 'verify', name])).code, 0);
    }
  },
);

test('a call that is cancelled while its approval is pending releases its session', async (t) => {
  const made = await createProgram(t, ({ index }) =>
    index === 0 ? calls('run_command', { command: 'true' }) : says('On.'),
  );
  await made.seedModels('qwen3');
  const stop = new AbortController();
  const client = await connect(t, made, {
    answer() {
      stop.abort();
      return new Promise(() => undefined);
    },
  });
  const work = client.callTool({ name: 'run_agent', arguments: { prompt: 'a' } }, { signal: stop.signal });
  await assert.rejects(work);
  const [name = ''] = made.sessions();
  await waitUntil(
    'the session is released',
    () => getLockOwner(made.data('sessions', `session_${name}.jsonl`)) === undefined,
  );
});

test('over HTTP it serves loopback clients with the token, and no API key of the program is sent', async (t) => {
  const made = await createProgram(t);
  const key = 'sk-a-secret-that-nobody-may-see';
  writeFileSync(path.join(made.cwd, 'notes.txt'), `the key is ${key}\n`);
  const child = spawn(process.execPath, [bin, 'mcp', 'serve', '--http', '0'], {
    cwd: made.cwd,
    env: { ...made.env, OPENAI_API_KEY: key, FAIRLEAD_MCP_TOKEN: 'a-token' },
  });
  t.after(() => void child.kill('SIGKILL'));
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const { promise: ended, resolve } = Promise.withResolvers<number | null>();
  child.on('close', resolve);
  await waitUntil('it listens', () => err.includes('Listening at'));
  const url = new URL(/http:\S+/.exec(err)?.[0] ?? '');
  assert.equal(url.hostname, '127.0.0.1');
  const authorization = 'Bearer a-token';
  const status = async (headers: Record<string, string>, at: URL = url): Promise<number> =>
    (await fetch(at, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{}' }))
      .status;
  assert.equal(await status({}), 401);
  assert.equal(await status({ authorization: 'Bearer b-token' }), 401);
  assert.equal(await status({ authorization, origin: 'https://example.com' }), 403);
  assert.equal(await status({ authorization }, new URL('/other', url)), 404);
  for (const modern of [false, true]) {
    const client = clientThat({ modern });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization } } }));
    const read = await call(client, 'read_file', { path: 'notes.txt' });
    assert.equal(wordsOf(read), 'the key is [redacted: OPENAI_API_KEY]');
    assert.match(wordsOf(await call(client, 'write_file', { path: 'b.txt', content: 'x' })), /needs approval/);
    await client.close();
  }
  child.kill('SIGTERM');
  assert.equal(await ended, 143, err);
  assert.ok(!err.includes('a-token'), 'a configured token is not printed');
});

test('invalid input on stdin is ignored, and an invalid command line prints the usage', async (t) => {
  const made = await createProgram(t);
  const hello = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  };
  const input = ['not json', '[]', '\u0000', JSON.stringify(hello)].join('\n');
  const { code, out, err } = await made.run(['mcp'], { input: `${input}\n` });
  assert.equal(code, 0, err);
  for (const line of out.trimEnd().split('\n')) JSON.parse(line);
  assert.match(out, /"serverInfo":\{[^}]*"name":"fairlead"/);
  for (const args of [['everything'], ['serve', '--http', 'x'], ['serve', '--max-turns', '0']]) {
    const wrong = await made.run(['mcp', ...args]);
    assert.deepEqual([wrong.code, wrong.out], [2, '']);
    assert.match(wrong.err, /Usage: fairlead mcp serve/);
  }
});
