// A program that imports only fairlead/coding-agent from the packed package: it passes tsc --strict, and edits a file in a sandbox with MCP and a policy.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { packPackage, repoRoot, runNpm } from './support/npm-package.ts';
import { noSandbox } from './support/sandbox.ts';

// It is awaited before the first test: a test that ends while the file still loads would end the run, and remove the directory.
const skip = await noSandbox();
const home = mkdtempSync(path.join(tmpdir(), 'fairlead-package-coding-agent-'));
after(() => rmSync(home, { recursive: true, force: true }));

/** A minimal MCP server over standard input and output with one tool. */
const mcpServer = `
import { createInterface } from 'node:readline';
const tools = [{ name: 'greeting', description: 'A greeting.', inputSchema: { type: 'object', properties: {} } }];
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'greeter', version: '1' } }),
  'tools/list': () => ({ tools }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'Hello from MCP.' }] }),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const body = answer ? { result: answer(params) } : { error: { code: -32601, message: 'unknown method' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\\n');
});
`;

const program = `
import { codingAgent, type CodingAgentOptions } from 'fairlead/coding-agent';

const [, , cwd = '.', sandbox = 'auto'] = process.argv;
const options: CodingAgentOptions = {
  cwd,
  model: 'scripted/answers.json',
  sandbox: sandbox === 'container' ? 'container' : 'auto',
  policy: { rules: [{ deny: { path: 'secret.txt' }, why: 'It is secret.' }] },
  mcp: { servers: { greeter: { command: process.execPath, args: [\`\${process.cwd()}/server.mjs\`], onDemand: false } } },
  approve: (request) => request.tool !== 'delete_file',
  limits: { turns: 10 },
  stateDir: 'state',
  configDir: 'config',
};
const agent = await codingAgent(options);
const { text, status } = await agent.run('Edit the file.');
const { tools } = await agent.resolve();
await agent.close();
console.log(JSON.stringify({ text, status, mcp: [...tools.keys()].filter((name) => name.includes('greeting')) }));
`;

const answers = [
  { calls: [{ tool: 'read_file', input: { path: 'a.txt' } }] },
  { calls: [{ tool: 'edit_file', input: { path: 'a.txt', old_string: 'old', new_string: 'new' } }] },
  { calls: [{ tool: 'write_file', input: { path: 'secret.txt', content: 'x' } }] },
  { calls: [{ tool: 'mcp__greeter__greeting', input: {} }] },
  { calls: [{ tool: 'run_command', input: { command: 'cat a.txt > copy.txt; echo escaped > ../outside.txt' } }] },
  'done',
];

before(() => {
  const { tarball } = packPackage(home);
  const files = {
    'package.json': '{ "name": "home", "private": true, "type": "module" }',
    'server.mjs': mcpServer,
    'program.ts': program,
    'answers.json': JSON.stringify(answers),
    'project/a.txt': 'old text\n',
  };
  mkdirSync(path.join(home, 'project'));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(home, name), text);
  runNpm(home, 'install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', tarball);
});

test('[P54] a program that uses only fairlead/coding-agent passes tsc --strict', () => {
  const tsc = path.join(repoRoot, 'node_modules/typescript/bin/tsc');
  const options = [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--module',
    'nodenext',
    '--target',
    'esnext',
  ];
  const types = ['--types', 'node', '--typeRoots', path.join(repoRoot, 'node_modules/@types')];
  assert.equal(
    execFileSync(process.execPath, [tsc, ...options, ...types, 'program.ts'], { cwd: home, encoding: 'utf8' }),
    '',
  );
});

test('[P54] the program edits a file in a sandbox, with an MCP server, and the policy denies a path', { skip }, () =>
  runProgram('auto'),
);

test('[P54] without a working sandbox, the program edits files and runs no command', () => runProgram('container'));

/** Runs the program in the best sandbox, or in a container without an engine, where no command runs. */
function runProgram(sandbox: 'auto' | 'container'): void {
  writeFileSync(path.join(home, 'project/a.txt'), 'old text\n');
  rmSync(path.join(home, 'project/copy.txt'), { force: true });
  const output = execFileSync(process.execPath, ['program.ts', 'project', sandbox], {
    cwd: home,
    encoding: 'utf8',
    env: { ...process.env, SANDBOX_CONTAINER_RUNTIME_EXECUTABLE: '/nowhere/podman' },
  });
  const mcp = ['mcp__greeter__greeting'];
  assert.deepEqual(JSON.parse(output.trim()), { text: 'done', status: 'success', mcp });
  const read = (name: string): string | undefined =>
    existsSync(path.join(home, name)) ? readFileSync(path.join(home, name), 'utf8') : undefined;
  assert.equal(read('project/a.txt'), 'new text\n');
  assert.equal(read('project/secret.txt'), undefined, 'the policy denies it');
  assert.equal(read('outside.txt'), undefined, 'the sandbox confines commands to the project');
  assert.equal(read('project/copy.txt'), sandbox === 'auto' ? 'new text\n' : undefined);
}
