// How local MCP servers are started: in the sandbox, in a folder that no command can write, or with approved files.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { unavailableSandbox, type Sandbox } from '../../guards/sandbox/sandbox.ts';
import { approvalKey, mustApproveServer, type McpServer, type McpStdioConfig } from '../../tools/mcp/index.ts';
import { bindMcpServers, createMcpLaunch, isConfinedServer } from './mcp-launch.ts';

function createDirs(t: TestContext): { readonly cwd: string; readonly configDir: string } {
  const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-launch-')));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const dirs = { cwd: path.join(place, 'work'), configDir: path.join(place, 'config') };
  for (const dir of Object.values(dirs)) mkdirSync(dir);
  return dirs;
}

const createServer = (
  origin: McpServer['origin'],
  [command = '', ...args]: readonly string[],
  more: Partial<McpStdioConfig> = {},
): McpServer => ({
  name: 's',
  origin,
  source: 'test',
  transport: { type: 'stdio', command, args, env: {}, ...more },
});

const fakeSandbox: Sandbox = {
  ...unavailableSandbox(''),
  name: 'fake',
  confine: (argv, cwd) => ['/bin/box', cwd, ...argv],
};

const bind = (dirs: { readonly cwd: string; readonly configDir: string }, server: McpServer): McpServer =>
  bindMcpServers([server], dirs)[0] ?? server;

test('a server of a project starts in the sandbox, and its variables do not reach the program of the sandbox', async (t) => {
  const dirs = createDirs(t);
  const env = { LD_PRELOAD: './evil.so', LD_AUTH: './evil.so', BASH_ENV: 'x', API_KEY: 'secret' };
  const server = bind(dirs, createServer('project', ['node', 'a.js'], { env, cwd: dirs.cwd }));
  const launch = createMcpLaunch({ ...dirs, findSandbox: () => fakeSandbox });
  const started = await launch(server, server.transport as McpStdioConfig);
  assert.deepEqual(started, {
    type: 'stdio',
    command: '/bin/box',
    args: [dirs.cwd, '/usr/bin/env', 'LD_PRELOAD=./evil.so', 'LD_AUTH=./evil.so', 'BASH_ENV=x', 'node', 'a.js'],
    env: { API_KEY: 'secret' },
    cwd: '/',
  });
});

test('without a sandbox a server of a project is not started unless the user named the project', async (t) => {
  const dirs = createDirs(t);
  const server = createServer('project', ['node', 'a.js'], { cwd: dirs.cwd });
  const launch = createMcpLaunch({ ...dirs, findSandbox: () => unavailableSandbox('Install bubblewrap.') });
  const config = server.transport as McpStdioConfig;
  await assert.rejects(async () => launch(bind(dirs, server), config), /runs only in a sandbox.*Install bubblewrap\./);
  const list = path.join(dirs.configDir, 'mcp.json');
  writeFileSync(list, JSON.stringify({ outsideSandbox: [path.dirname(dirs.cwd)] }));
  assert.ok(isConfinedServer(bind(dirs, server)), 'only the directory itself counts');
  writeFileSync(list, JSON.stringify({ outsideSandbox: [dirs.cwd] }));
  const outside = bind(dirs, server);
  const { env: _, ...started } = await launch(outside, config);
  assert.deepEqual({ ...started, env: {} }, config);
  assert.notEqual(approvalKey(outside).hash, approvalKey(server).hash, 'the approval of one is not that of the other');
  writeFileSync(path.join(dirs.cwd, 'a.js'), '');
  await assert.rejects(async () => launch(outside, config), /a\.js, which it may run, changed since/);
});

test('a server of the user starts in the root of the disk, and its paths keep their meaning', async (t) => {
  const dirs = createDirs(t);
  const launch = createMcpLaunch({ ...dirs, findSandbox: () => fakeSandbox });
  const start = async (argv: readonly string[], cwd?: string): Promise<Omit<McpStdioConfig, 'env'>> => {
    const server = bind(dirs, createServer('user', argv, cwd === undefined ? {} : { cwd }));
    assert.ok(!mustApproveServer(server), 'nothing of the directory runs');
    // The folder is filled in before the launch.
    const { env: _, ...started } = await launch(server, {
      ...(server.transport as McpStdioConfig),
      cwd: cwd ?? dirs.cwd,
    });
    return started;
  };
  for (const name of ['package.json', 'index.js']) writeFileSync(path.join(dirs.cwd, name), '');
  assert.deepEqual(await start(['npx', '-y', '@scope/server', '.', '--root=./docs', '../x', 'y', '.hidden']), {
    type: 'stdio',
    command: 'npx',
    args: ['-y', '@scope/server', dirs.cwd, `--root=${dirs.cwd}/docs`, path.resolve(dirs.cwd, '../x'), 'y', '.hidden'],
    cwd: '/',
  });
  const container = [
    'docker',
    'run',
    '-i',
    '-v',
    '.:/data',
    '--mount',
    'type=bind,src=./docs,dst=/docs',
    'org/image:1',
  ];
  assert.deepEqual((await start(container)).args, [
    'run',
    '-i',
    '-v',
    `${dirs.cwd}:/data`,
    '--mount',
    `type=bind,src=${dirs.cwd}/docs,dst=/docs`,
    'org/image:1',
  ]);
  for (const argv of [
    ['/usr/bin/server', '.'],
    ['uvx', 'server'],
    ['python3', '-m', 'server'],
    ['op', 'run', '--', 'npx', 'x', '.'],
  ])
    assert.equal((await start(argv)).cwd, '/');
  assert.equal((await start(['npx', 'server'], dirs.configDir)).cwd, dirs.configDir);
});

test('a server of the user that runs a folder or a file of the directory needs approval', (t) => {
  const dirs = createDirs(t);
  for (const name of ['package.json', 'server/package.json', 'server.js', 'tools/server']) {
    mkdirSync(path.dirname(path.join(dirs.cwd, name)), { recursive: true });
    writeFileSync(path.join(dirs.cwd, name), '');
  }
  for (const argv of [
    ['npx', '-y', '.'],
    ['nice', 'npx', './server'],
    ['npx', '--package=file:./server', 'x'],
    ['uv', '--directory', '.', 'run', 'x'],
    ['uvx', '--from', './server', 'x'],
    ['timeout', '9', 'node', './server.js'],
    ['tools/server', 'x'],
  ])
    assert.ok(mustApproveServer(bind(dirs, createServer('user', argv))), argv.join(' '));
  const here = { cwd: dirs.cwd };
  for (const argv of [
    ['npx', 'x'],
    ['nice', 'npx', 'x'],
    ['dotenv', '--', 'python3', '-m', 'x'],
  ])
    assert.ok(mustApproveServer(bind(dirs, createServer('user', argv, here))), argv.join(' '));
});

test('PATH has no folder of the working directory, and a program that is only there is not started', async (t) => {
  const dirs = createDirs(t);
  const launch = createMcpLaunch({ ...dirs, findSandbox: () => fakeSandbox });
  const inside = path.join(dirs.cwd, 'bin');
  mkdirSync(inside);
  writeFileSync(path.join(inside, 'only-here'), '#!/bin/sh\n', { mode: 0o755 });
  const search = [inside, 'bin', '', '.', '/usr/bin', path.join(dirs.cwd, 'absent'), '/bin'].join(path.delimiter);
  const start = async (command: string): Promise<McpStdioConfig> => {
    const server = bind(dirs, createServer('user', [command], { env: { PATH: search } }));
    return launch(server, { ...(server.transport as McpStdioConfig), cwd: dirs.cwd });
  };
  assert.equal((await start('env')).env['PATH'], '/usr/bin:/bin');
  await assert.rejects(start('only-here'), /only-here is only in the working directory, where commands can change it/);
});

test('the files that a server may run are found by path, option, folder, module and package', (t) => {
  const dirs = createDirs(t);
  const names = ['a.js', 'lib/package.json', 'pkg/mod.py', 'node_modules/.bin/tool', 'package.json'];
  for (const name of names) {
    mkdirSync(path.dirname(path.join(dirs.cwd, name)), { recursive: true });
    writeFileSync(path.join(dirs.cwd, name), name);
  }
  writeFileSync(path.join(dirs.configDir, 'mcp.json'), JSON.stringify({ outsideSandbox: [dirs.cwd] }));
  const argv = ['node', '--require=./a.js', 'lib', 'pkg.mod', 'tool@1.0', 'later'];
  const { files = [] } = bind(dirs, createServer('project', argv, { cwd: dirs.cwd }));
  const found = files.map((file) => [path.relative(dirs.cwd, file.path), file.hash !== ''] as const);
  assert.deepEqual(found.flatMap(([name, isPresent]) => (isPresent ? [name] : [])).toSorted(), names.toSorted());
  assert.ok(
    found.some(([name]) => name === 'later'),
    'a file that does not exist yet is bound too',
  );
});

test('a pipe in the place of a script is neither started nor read', async (t) => {
  const dirs = createDirs(t);
  execFileSync('mkfifo', [path.join(dirs.cwd, 'run.sh')]);
  const server = bind(dirs, createServer('user', ['/bin/sh', './run.sh']));
  assert.ok(mustApproveServer(server));
  const launch = createMcpLaunch({ ...dirs, findSandbox: () => fakeSandbox });
  await assert.rejects(
    async () => launch(server, server.transport as McpStdioConfig),
    /run\.sh, which it may run, changed/,
  );
});
