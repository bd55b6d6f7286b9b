// Attacks through local MCP servers: what a sandboxed command wrote does not run outside the sandbox as a part of a server.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { calls } from '../src/testing/index.ts';
import { assertAttack } from './support/attack-report.ts';
import { createProgram, type ProgramResult, type TestProgram } from './support/cli-harness.ts';
import { writeFiles } from './support/program-dirs.ts';
import { noNodeInside, noSandbox } from './support/sandbox.ts';

const skip = (await noSandbox()) || noNodeInside;
const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'no python3 here';

/** A server with one tool, which says which files it sees and tries to write one. */
const server = `
const { readdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
let rest = '';
const answer = ({ method, params }) => {
  if (method === 'initialize')
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } };
  if (method === 'tools/list') return { tools: [{ name: 'hi', description: 'Greets.', inputSchema: { type: 'object' } }] };
  let written = 'cannot write';
  try { writeFileSync(join(__dirname, 'written'), ''); written = 'wrote'; } catch {}
  return { content: [{ type: 'text', text: 'Hello, ' + written + ', ' + process.env.TOWN + ', ' + readdirSync('.').join() }] };
};
process.stdin.on('data', (text) => {
  rest += text;
  for (let at = rest.indexOf('\\n'); at >= 0; at = rest.indexOf('\\n')) {
    const message = JSON.parse(rest.slice(0, at));
    rest = rest.slice(at + 1);
    if (message.id !== undefined)
      console.log(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message) }));
  }
});`;

/** The PATH of a user whose Node is visible in the sandbox. */
const env = { PATH: [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter) };

type Entry = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** Creates a program with this server of the project or the user. Its model first runs the command, then calls the tool of the server. */
async function createMcpProgram(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  { user, project, outside = false }: { readonly user?: Entry; readonly project?: Entry; readonly outside?: boolean },
): Promise<TestProgram & { readonly act: (command?: string) => Promise<ProgramResult & { readonly heard: string }> }> {
  let steps: ReturnType<typeof calls>[] = [];
  let heard = '';
  const program = await createProgram(t, ({ results }) => {
    heard = results.join('\n');
    return steps.shift() ?? 'Done.';
  });
  await program.seedModels('qwen3');
  writeFiles(program.cwd, files);
  const outsideSandbox = outside ? [program.cwd] : [];
  writeFiles(program.config(), {
    'mcp.json': JSON.stringify({ mcpServers: user ? { s: user } : {}, outsideSandbox }),
  });
  if (project) writeFiles(program.cwd, { '.mcp.json': JSON.stringify({ mcpServers: { s: project } }) });
  const tool = project ? 'mcp__project-s__hi' : 'mcp__s__hi';
  return {
    ...program,
    async act(command) {
      steps = [...(command === undefined ? [] : [calls('run_command', { command })]), calls(tool, {})];
      return { ...(await program.run(['say hi', '--auto-approve'], { env })), heard };
    },
  };
}

/** The code of an attacker that marks its run outside the sandbox. */
const evilScript = (program: TestProgram): string =>
  `printf 'require("fs").writeFileSync("${markOf(program)}", "")' > tools/server.js`;

const markOf = ({ home }: Pick<TestProgram, 'home'>): string => path.join(home, 'mark');

const own: Entry = { command: 'node', args: ['tools/server.js'], env: { TOWN: 'Oslo' } };

test('[attack 135] a server of a project runs in the sandbox, with whatever a command wrote', { skip }, async (t) => {
  const program = await createMcpProgram(t, { 'tools/server.js': server }, { project: own });
  const approved = await program.run(['mcp', 'approve', 's', '--yes'], { env });
  assert.match(approved.err, /it runs in the sandbox[^]*is approved, with 1 tool\./);
  const first = await program.act();
  assert.match(first.heard, /Hello, cannot write, Oslo, \.mcp\.json,tools/);
  await program.act(evilScript(program));
  await program.act();
  await program.run(['mcp', 'tools', 's'], { env });
  assertAttack(t, 135, [existsSync(markOf(program)) ? 'done' : 'blocked']);
  assert.match(readFileSync(path.join(program.cwd, 'tools/server.js'), 'utf8'), /mark/, 'the command wrote the file');
});

test('[attack 135] outside the sandbox, an approval covers the files that a server runs', { skip }, async (t) => {
  const files = { 'tools/server.js': server };
  const program = await createMcpProgram(t, files, { project: own, outside: true });
  const approved = await program.run(['mcp', 'approve', 's', '--yes'], { env });
  assert.match(approved.err, /it runs as you, outside[^]*tools\/server\.js[^]*is approved/);
  assert.match((await program.act()).heard, /Hello, wrote, Oslo/);
  const changing = await program.act(evilScript(program));
  assert.match(changing.heard, /was not started: \S+\/tools\/server\.js, which it may run, changed since/);
  const later = await program.act();
  assert.match(later.err, /is not started, for it changed since it was approved: fairlead mcp approve s/);
  assertAttack(t, 135, [existsSync(markOf(program)) ? 'done' : 'blocked']);
  writeFiles(program.cwd, files);
  assert.match((await program.act('echo {} > package.json')).heard, /package\.json, which it may run, changed/);
});

test(
  '[attack 135] a server of the user that names a file of the directory runs it after approval only',
  { skip },
  async (t) => {
    const user = { command: 'node', args: ['./tools/server.js'] };
    const program = await createMcpProgram(t, { 'tools/server.js': server }, { user });
    const unasked = await program.act(evilScript(program));
    assert.match(unasked.err, /MCP server s \(your\) is not started, for it was not approved: fairlead mcp approve s/);
    await program.run(['mcp', 'tools', 's'], { env });
    assertAttack(t, 135, [existsSync(markOf(program)) ? 'done' : 'blocked']);
    writeFiles(program.cwd, { 'tools/server.js': server });
    assert.match((await program.run(['mcp', 'approve', 's', '--yes'], { env })).err, /is approved, with 1 tool\./);
    assert.match((await program.act()).heard, /Hello, wrote/);
    assert.match((await program.act(evilScript(program))).heard, /changed since the server was approved/);
    assertAttack(t, 135, [existsSync(markOf(program)) ? 'done' : 'blocked']);
  },
);

test(
  '[attack 135] a server of the user that runs a module does not take it from the working directory',
  { skip: skip || noPython },
  async (t) => {
    const user = { command: 'python3', args: ['-m', 'installed_server'] };
    const program = await createMcpProgram(t, {}, { user });
    await program.act(`echo 'open("${markOf(program)}", "w")' > installed_server.py`);
    const { err } = await program.act();
    assertAttack(t, 135, [existsSync(markOf(program)) ? 'done' : 'blocked']);
    assert.match(err, /No module named installed_server/);
  },
);

const noNpx = spawnSync('npx', ['--version']).status === 0 ? false : 'no npx here';

/** A package of the working directory with a program that marks its run. */
const evilPackage = (program: Pick<TestProgram, 'home'>): Readonly<Record<string, string>> => {
  const code = `#!${process.execPath}\nrequire('fs').writeFileSync(${JSON.stringify(markOf(program))}, '')`;
  const description = JSON.stringify({ name: 'tool', version: '1.0.0', bin: { tool: 'tool.js' } });
  return {
    'package.json': description,
    'tool.js': code,
    'node_modules/tool/package.json': description,
    'node_modules/tool/tool.js': code,
    'node_modules/.bin/tool': code,
    'tool.py': `open(${JSON.stringify(markOf(program))}, 'w')`,
  };
};

for (const [argv, missing] of [
  [['nice', 'npx', '-y', 'tool', '.'], noNpx],
  [['timeout', '60', 'npx', '-y', 'tool', '.'], noNpx],
  [['npx', '-y', '.'], noNpx],
  [['env', 'npx', '-y', '--package=file:.', 'tool'], noNpx],
  [['nice', 'python3', '-m', 'tool'], noPython],
  [['tool'], false],
  [['nice', 'tool'], false],
] as const)
  test(
    `[attack 162] a server of the user runs nothing of the working directory: ${argv.join(' ')}`,
    { skip: skip || missing },
    async (t) => {
      const [command, ...args] = argv;
      const user = { command, args, env: { npm_config_offline: 'true' } };
      const program = await createMcpProgram(t, {}, { user });
      writeFiles(program.cwd, evilPackage(program));
      for (const name of ['tool.js', 'node_modules/tool/tool.js', 'node_modules/.bin/tool'])
        chmodSync(path.join(program.cwd, name), 0o755);
      // A package manager that starts the program adds its own folders.
      const search = [path.join(program.cwd, 'node_modules/.bin'), 'node_modules/.bin', '.', env.PATH].join(
        path.delimiter,
      );
      const { err } = await program.run(['hello'], { env: { PATH: search } });
      assertAttack(t, 162, [existsSync(markOf(program)) ? 'done' : 'blocked'], argv.join(' '));
      assert.match(err, /MCP server s \(your\) (has no tools now|is not started)/);
    },
  );

test(
  'a server of the user starts through another program, and in the working directory if it says so',
  { skip },
  async (t) => {
    const files = { 'tools/server.js': server };
    for (const [entry, seen] of [
      [{ command: 'nice', args: ['node', './tools/server.js', '.'] }, /Hello, wrote, undefined, (?!tools)/],
      [{ command: 'nice', args: ['node', 'tools/server.js'], cwd: '.' }, /Hello, wrote, undefined, .*tools/],
    ] as const) {
      const program = await createMcpProgram(t, files, { user: entry });
      const approved = await program.run(['mcp', 'approve', 's', '--yes'], { env });
      assert.match(approved.err, /tools\/server\.js[^]*is approved, with 1 tool\./);
      assert.match((await program.act()).heard, seen);
    }
  },
);
