// MCP configuration: which servers exist, what an approval covers, and how their tools are named.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { parseMcpConfig, readMcpConfig } from './config.ts';
import { createServerGroups, createToolNames } from './names.ts';
import { approvalKey, expandVariables, type McpServer } from './server.ts';

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'fairlead-mcp-'));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const parse = (mcpServers: unknown, origin: McpServer['origin'] = 'user'): ReturnType<typeof parseMcpConfig> =>
  parseMcpConfig(JSON.stringify({ mcpServers }), { file: '/p/.mcp.json', origin });

test('[P63] servers of a project and of the user are read with every kind of transport', (t) => {
  const root = folder(t);
  const project = path.join(root, 'project');
  mkdirSync(project);
  const mcpServers = {
    local: { command: 'node', args: ['server.js'], env: { A: 'b' } },
    web: { type: 'http', url: 'https://a.example/mcp', headers: { 'X-Key': '${KEY}' } },
    plain: { url: 'https://a.example/mcp' },
    old: { type: 'sse', url: 'http://127.0.0.1:1/sse' },
    socket: { url: 'wss://a.example/mcp' },
    off: { command: 'node', disabled: true },
  };
  writeFileSync(path.join(project, '.mcp.json'), JSON.stringify({ mcpServers }));
  const user = path.join(root, 'mcp.json');
  writeFileSync(user, JSON.stringify({ mcpServers: { mine: { command: 'x', timeout: 5 }, web: { command: 'y' } } }));
  const { servers, problems } = readMcpConfig({ project, user });
  assert.deepEqual(
    servers.map(({ name, origin, transport }) => [name, origin, transport.type]),
    [
      ['mine', 'user', 'stdio'],
      ['web', 'user', 'stdio'],
      ['local', 'project', 'stdio'],
      ['plain', 'project', 'http'],
      ['old', 'project', 'sse'],
      ['socket', 'project', 'ws'],
    ],
  );
  assert.deepEqual(servers[2]?.transport, {
    type: 'stdio',
    command: 'node',
    args: ['server.js'],
    env: { A: 'b' },
    cwd: project,
  });
  assert.equal(servers[0]?.timeoutMs, 5);
  assert.match(problems.join(), /the server web is ignored: you have configured one with this name/);
  assert.deepEqual(readMcpConfig({ project: path.join(root, 'none'), user: path.join(root, 'none') }).servers, []);
});

test('[P28, P29, P30] "transport" is accepted as another name for the type of a server', () => {
  const { servers, problems } = parse({
    local: { transport: 'stdio', command: 'node', args: ['server.js'] },
    web: { transport: 'http', url: 'http://localhost:3000/mcp' },
    old: { transport: 'sse', url: 'http://localhost:3000/sse' },
    socket: { transport: 'websocket', url: 'ws://localhost:3000' },
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(
    servers.map(({ transport }) => transport.type),
    ['stdio', 'http', 'sse', 'ws'],
  );
});

test('a user’s server has no directory of its own, a project’s is that of its configuration file, and either runs where it says', () => {
  const cwdOf = (entry: object, origin: McpServer['origin']): unknown => {
    const [server] = parse({ a: { command: 'node', ...entry } }, origin).servers;
    return server?.transport.type === 'stdio' ? server.transport.cwd : 'none';
  };
  assert.deepEqual([cwdOf({}, 'user'), cwdOf({}, 'project')], [undefined, '/p']);
  assert.deepEqual([cwdOf({ cwd: 'x' }, 'user'), cwdOf({ cwd: 'x' }, 'project')], ['/p/x', '/p/x']);
  for (const here of ['.', './'])
    assert.deepEqual([cwdOf({ cwd: here }, 'user'), cwdOf({ cwd: here }, 'project')], ['.', '/p']);
});

test('a pipe, a device or a directory in place of the file is reported, and nothing blocks', (t) => {
  const project = folder(t);
  const file = path.join(project, '.mcp.json');
  const code = `import { readMcpConfig } from ${JSON.stringify(import.meta.resolve('./config.ts'))};
    console.log(readMcpConfig({ project: ${JSON.stringify(project)} }).problems.join());`;
  // In another process, because a synchronous read of a pipe would block the test forever.
  const problems = (): string =>
    spawnSync(process.execPath, ['--input-type=module', '-e', code], { timeout: 20_000, encoding: 'utf8' }).stdout;
  const makers = [() => execFileSync('mkfifo', [file]), () => symlinkSync('/dev/zero', file), () => mkdirSync(file)];
  for (const make of makers) {
    make();
    assert.equal(problems(), `${file} cannot be read: it is not a regular file.\n`);
    rmSync(file, { recursive: true });
  }
});

test('an unusable entry is reported with the reason, and the others stay', () => {
  const bad: Readonly<Record<string, unknown>> = {
    nothing: {},
    words: 'node server.js',
    list: { command: ['node'] },
    args: { command: 'node', args: 'a b' },
    env: { command: 'node', env: { A: 1 } },
    scheme: { type: 'http', url: 'file:///etc/passwd' },
    kind: { type: 'carrier-pigeon', url: 'https://a.example' },
    time: { command: 'node', timeout: -1 },
    port: { url: 'https://a.example', oauth: { callbackPort: 70_000 } },
    'a\u001b[2Jb': { command: 'node' },
  };
  const { servers, problems } = parse({ ...bad, good: { command: 'node' } });
  assert.deepEqual(
    servers.map(({ name }) => name),
    ['good'],
  );
  assert.equal(problems.length, Object.keys(bad).length);
  assert.doesNotMatch(problems.join(''), /\p{Cc}/u);
  for (const text of ['', '[]', '{"mcpServers": []}', '{'])
    assert.equal(parseMcpConfig(text, { file: 'f', origin: 'user' }).problems.length, 1, text);
});

test('a project cannot mark its server as trusted, nor turn off the check of an issuer', () => {
  const entry = { command: 'node', trustReadOnly: true };
  assert.equal(parse({ a: entry }).servers[0]?.trustReadOnly, true);
  assert.deepEqual(parse({ a: entry }, 'project').servers, []);
  const login = { url: 'https://a.example', oauth: { checkIssuer: false } };
  assert.equal(parse({ a: login }).servers.length, 1);
  assert.deepEqual(parse({ a: login }, 'project').servers, []);
});

test('attack 41: an approval covers the command, arguments, variables, directory and address; a change of any needs a new one', () => {
  const hashOf = (entry: unknown, name = 'a'): string => {
    const [server] = parse({ [name]: entry }).servers;
    assert.ok(server);
    return approvalKey(server).hash;
  };
  const local = { command: 'node', args: ['a'], env: { A: '1' } };
  assert.equal(hashOf(local), hashOf({ env: { A: '1' }, args: ['a'], command: 'node' }));
  const others = [
    { ...local, command: 'nodejs' },
    { ...local, args: ['a', 'b'] },
    { ...local, args: [] },
    { ...local, env: { A: '2' } },
    { ...local, cwd: '/elsewhere' },
    { url: 'https://a.example' },
    { url: 'https://a.example', headers: { A: 'b' } },
    { url: 'https://a.example', oauth: { clientId: 'x' } },
    { url: 'https://b.example' },
    { type: 'sse', url: 'https://b.example' },
  ];
  const hashes = [local, ...others].map((each) => hashOf(each));
  assert.equal(new Set(hashes).size, hashes.length);
  const [one, two] = parse({ a: local, b: local }).servers.map((each) => approvalKey(each).subject);
  assert.notEqual(one, two);
});

test('variables are expanded when a server starts, and a missing one is named', () => {
  const [server] = parse({ a: { url: 'https://${HOST:-a.example}/x', headers: { K: 'Bearer ${KEY}' } } }).servers;
  assert.ok(server);
  assert.deepEqual(expandVariables(server.transport, { KEY: 'k' }, 'a'), {
    type: 'http',
    url: 'https://a.example/x',
    headers: { K: 'Bearer k' },
  });
  assert.throws(() => expandVariables(server.transport, {}, 'a'), /The MCP server a needs the variable KEY/);
});

test('attack 44: tool names are valid in every wire format, and no two tools share one', () => {
  const of = (...origins: readonly (readonly [string, string])[]): readonly string[] => {
    const groups = createServerGroups(
      [...new Set(origins.map(([name]) => name))].map((name) => ({ name, origin: 'user' })),
    );
    return createToolNames(origins.map(([server, tool]) => ({ group: groups.get(server) ?? '', server, tool })));
  };
  assert.deepEqual(of(['fs', 'read_file']), ['mcp__fs__read_file']);
  assert.deepEqual(of(['my server', 'get/it'])[0], 'mcp__my_server__get_it');
  const pairs = [
    ['a', 'b__c'],
    ['a__b', 'c'],
    ['a', 'x.y'],
    ['a', 'x y'],
    ['a', 'Same'],
    ['a', 'same'],
    ['a', 'long'.repeat(40)],
    ['a', `${'long'.repeat(40)}!`],
    ['a', ''],
  ] as const;
  const names = of(...pairs);
  assert.equal(new Set(names.map((name) => name.toLowerCase())).size, pairs.length);
  for (const name of names) assert.match(name, /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/);
  const turned = of(...pairs.toReversed()).toReversed();
  assert.deepEqual(turned, names);
});

test('[attack 105] no server of a project or an editor has the group of another server, whatever it is called', () => {
  const names = [
    'github',
    'github.',
    'github/',
    'GitHub',
    'git_hub',
    'git hub',
    'project-github',
    'Project-x',
    'editor-a',
  ];
  const long = 'a'.repeat(40);
  for (const origin of ['project', 'editor'] as const)
    for (const theirs of [...names, long, `${long}b`, 'project github', 'é', '_']) {
      const own = names.filter((name) => name !== theirs);
      const groups = createServerGroups([
        ...own.map((name) => ({ name, origin: 'user' }) as const),
        { name: theirs, origin },
      ]);
      const group = groups.get(theirs) ?? '';
      assert.match(group, new RegExp(`^${origin}-[a-zA-Z0-9_-]*$`));
      assert.ok(group.length <= 32 && !group.includes('__'), group);
      for (const name of own) assert.doesNotMatch(groups.get(name) ?? '', /^(?:project|editor)-/i);
    }
  const all = [
    ...[...names, long, `${long}b`].map((name) => ({ name, origin: 'user' }) as const),
    ...['x', 'x.', 'x/', 'X'].map((name) => ({ name, origin: 'project' }) as const),
  ];
  const groups = createServerGroups(all);
  assert.equal(new Set([...groups.values()].map((group) => group.toLowerCase())).size, all.length);
  assert.deepEqual(createServerGroups(all.toReversed()).get('x.'), groups.get('x.'), 'the order does not matter');
  assert.deepEqual([groups.get('github'), groups.get('x')], ['github', 'project-x'], 'the plain name keeps its group');
});
