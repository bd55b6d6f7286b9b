// Tests `fairlead mcp add` and `remove`: the files they change, and what they refuse.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { createProgram } from './support/cli-harness.ts';

test('[P63] mcp add writes a server for the user or the project, mcp list shows it, and mcp remove removes it', async (t) => {
  const program = await createProgram(t);
  const user = path.join(program.env['XDG_CONFIG_HOME'] ?? '', 'fairlead', 'mcp.json');
  const project = path.join(program.cwd, '.mcp.json');
  const read = (file: string): unknown =>
    (JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: unknown }).mcpServers;
  const mcp = (...args: readonly string[]): ReturnType<typeof program.run> => program.run(['mcp', ...args]);

  assert.match((await mcp('list')).out, /^No MCP servers configured \(looked in \S+mcp\.json, \S+\.mcp\.json\)\.\n$/);
  const added = await mcp('add', 'fs', 'npx', '-y', 'server-fs', '--env', 'A=b=c', '--', '--env');
  assert.deepEqual([added.code, added.err.includes(user)], [0, true], added.err);
  assert.deepEqual(read(user), { fs: { command: 'npx', args: ['-y', 'server-fs', '--env'], env: { A: 'b=c' } } });
  assert.equal(statSync(user).mode & 0o777, 0o600);
  const web = await mcp(
    'add',
    'web',
    'https://a.example/mcp',
    '--header',
    'Authorization: Bearer ${KEY}',
    '--scope=project',
  );
  assert.equal(web.code, 0, web.err);
  assert.deepEqual(read(project), {
    web: { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer ${KEY}' } },
  });
  const listed = (await mcp('list')).out;
  assert.match(listed, /fs/);
  assert.match(listed, /web/);

  assert.equal((await mcp('remove', 'fs')).code, 0);
  assert.deepEqual(read(user), {});
  assert.equal((await mcp('remove', 'web', '--scope', 'user')).code, 1);
  assert.equal((await mcp('remove', 'web')).code, 0);
  assert.deepEqual(read(project), {});
});

test('mcp add refuses what it cannot read back, and changes nothing', async (t) => {
  const program = await createProgram(t);
  const file = path.join(program.cwd, '.mcp.json');
  const mcp = (...args: readonly string[]): ReturnType<typeof program.run> =>
    program.run(['mcp', ...args, '--scope', 'project']);
  for (const [args, code, message] of [
    [['add', 'a'], 2, /^Missing argument: <command …\|url>/],
    [['add', 'a', 'node', '--env', 'novalue'], 2, /^"novalue" is not of the form --env K=V\./],
    [['add', 'a', 'https://a.example', '--type', 'pigeon'], 2, /^--type is http, sse or ws/],
    [['add', 'a\u001b[2J', 'node'], 1, /./],
    [['ad', 'a', 'node'], 2, /^Unknown subcommand: mcp ad\n/],
  ] as const) {
    const { code: actual, err } = await mcp(...args);
    assert.equal(actual, code, err);
    assert.match(err, message);
    assert.ok(!existsSync(file), err);
  }
  writeFileSync(file, '{ broken');
  assert.equal((await mcp('add', 'a', 'node')).code, 1);
  assert.equal(readFileSync(file, 'utf8'), '{ broken');
  writeFileSync(file, '{"other":1,"mcpServers":{"a":{"command":"x"}}}');
  assert.match((await mcp('add', 'a', 'node')).err, /^There is already an MCP server "a"/);
  assert.equal((await mcp('add', 'b', 'node')).code, 0);
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
    other: 1,
    mcpServers: { a: { command: 'x' }, b: { command: 'node' } },
  });
});

test('mcp in a pipe says on standard error that it is a server', async (t) => {
  const program = await createProgram(t);
  await program.seedModels('qwen3');
  const { code, out, err } = await program.run(['mcp'], { input: '' });
  assert.deepEqual([code, out], [0, '']);
  assert.match(err, /^Fairlead runs as an MCP server on standard input and output\./);
});
