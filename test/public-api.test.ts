// The package as a library user sees it: the parts of a harness work together, and its modules depend on each other in one direction.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { readSourceTree } from '../scripts/lint-repo/source-tree.ts';
import { Agent, fileSession, messageText, messageType, tool, type Message, type MessagePart } from '../src/index.ts';
import { calls, says, scriptedProvider, scriptedServer } from '../src/testing/index.ts';

const root = path.resolve(import.meta.dirname, '..');

test('[P1, P4, P5, P7, P8] an agent of the package entry runs a tool in its loop, and its session keeps typed messages between runs', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-api-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const add = tool({
    name: 'add',
    description: 'Adds two numbers.',
    inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
    effect: 'read',
    execute: ({ a, b }) => `${a + b}`,
  });
  const file = path.join(folder, 'sum.jsonl');
  const ask = async (provider: ReturnType<typeof scriptedProvider>, input: string): Promise<readonly Message[]> => {
    await using session = await new Agent({ model: provider, tools: [add] }).session({ store: fileSession(file) });
    assert.equal((await session.run(input)).status, 'success');
    return session.messages;
  };
  await ask(scriptedProvider([calls('add', { a: 1, b: 2 }), says('Three.')]), 'Add 1 and 2.');
  const messages = await ask(scriptedProvider([says('I said three.')]), 'What did you say?');
  assert.deepEqual(
    messages.map(({ role, parts }) => [role, parts.map(({ type }) => type).join(' ')]),
    [
      ['user', 'text'],
      ['assistant', 'tool-call'],
      ['tool', 'tool-result'],
      ['assistant', 'text'],
      ['user', 'text'],
      ['assistant', 'text'],
    ],
  );
  assert.match(messageText(messages.at(-1) ?? { role: 'assistant', parts: [] }), /three/);
});

test('[P8] message structures are public, and a custom message type is validated, stored, read back typed and sent as its text alone', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-types-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const alert = messageType({
    name: 'alert',
    schema: {
      type: 'object',
      properties: { host: { type: 'string' }, load: { type: 'number' } },
      required: ['host', 'load'],
    },
    toText: ({ host, load }) => `The load of ${host} is ${load}.`,
  });
  const other = messageType({ name: 'other', schema: { type: 'object' }, toText: () => 'x' });
  await using server = await scriptedServer(() => says('Restart it.'), { models: [{ id: 'm' }] });
  const store = (): ReturnType<typeof fileSession> => fileSession(path.join(folder, 'alerts.jsonl'));
  const agent = new Agent({ model: { provider: 'ollama', model: 'm', baseUrl: server.url } });
  {
    await using session = await agent.session({ store: store() });
    const parts: readonly MessagePart[] = alert.create({ host: 'db-1', load: 9.5 });
    assert.equal((await session.run(parts)).status, 'success');
    await session.run('And now?');
  }
  const sent = JSON.stringify(
    server.requests.filter((request) => request.path.endsWith('/api/chat')).map(({ body }) => body),
  );
  assert.match(sent, /The load of db-1 is 9\.5\./);
  assert.doesNotMatch(sent, /message-type|"load":/, 'the value is not sent');
  await using session = await agent.session({ store: store() });
  const [value, ...more] = alert.read(session.messages);
  const load: number | undefined = value?.load;
  assert.deepEqual([value?.host, load, more], ['db-1', 9.5, []]);
  assert.deepEqual(other.read(session.messages), []);
  assert.throws(() => alert.create({ host: 'db-1', load: 'high' as unknown as number }), {
    code: 'message/invalid',
    message: /does not fit the message type alert: .*load/,
  });
});

test('[P2] the published package has no dependencies and nothing that runs or compiles at install', () => {
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
    readonly dependencies?: object;
    readonly optionalDependencies?: object;
  };
  assert.deepEqual([manifest.dependencies, manifest.optionalDependencies], [undefined, undefined]);
  // npm runs `prepare` in the repository, not where the published package is installed.
  assert.deepEqual(
    Object.keys(manifest.scripts).filter((name) => /^(pre|post)?install$/.test(name)),
    [],
  );
  assert.equal(existsSync(path.join(root, 'binding.gyp')), false);
});

test('[D14] Agent and Harness depend on Session, Session on none of them, and cache and tools on no session', () => {
  const { sources } = readSourceTree(root);
  const reach = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const { target, kind } of sources.get(file)?.imports ?? []) {
      if (target === undefined || kind === 'type' || seen.has(target)) continue;
      seen.add(target);
      reach(target, seen);
    }
    return seen;
  };
  const [agent, harness, session] = ['agent', 'harness', 'session'].map((name) => `src/agent/${name}.ts`) as [
    string,
    string,
    string,
  ];
  for (const above of [agent, harness]) {
    assert.ok(reach(above).has(session), `${above} uses the session`);
    assert.ok(!reach(session).has(above), `the session does not use ${above}`);
  }
  assert.ok(!reach(harness).has(agent));
  for (const below of ['session-cache', 'define-tool', 'tool-registry'])
    for (const above of [agent, harness, session])
      assert.ok(!reach(`src/agent/${below}.ts`).has(above), `${below} does not use ${above}`);
});

const unbuilt = existsSync(path.join(root, 'dist', 'index.js')) ? false : 'dist/ is not built: npm run build';

test('[P79] the benchmark prints time, processor time, memory and the ratio to the baseline', { skip: unbuilt }, () => {
  const args = [path.join(root, 'bench/main.ts'), '--only', 'import', '--rounds', '1'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  for (const subject of ['baseline', 'fairlead'])
    assert.match(stdout, new RegExp(`^ +${subject} +[\\d.]+ ms .* cpu +\\d+ .* rss +\\d+ MB +x[\\d.]+`, 'm'));
});
