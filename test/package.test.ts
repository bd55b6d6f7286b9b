// The npm package, installed into an empty directory: it runs and can be imported there, and a program that uses only fairlead/coding-agent edits a file in a sandbox with MCP and a policy.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { pathToFileURL } from 'node:url';
import { runNpm, packPackage, repoRoot, type PackedPackage } from './support/npm-package.ts';
import { noSandbox } from './support/sandbox.ts';

type Manifest = {
  readonly version: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
};

const manifest = JSON.parse(readFileSync(path.join(repoRoot, 'package.json'), 'utf8')) as Manifest;
const entries = Object.keys(manifest.exports).filter((name) => name !== './package.json');
/** The entries whose source exists; a module without an index fails the sizes check, and packing for release refuses. */
const existingEntries = entries.filter((name) => {
  const target = manifest.exports[name];
  const source = typeof target === 'object' ? target.types.replace('./dist/types/', 'src/') : '';
  return existsSync(path.join(repoRoot, source.replace(/\.d\.ts$/, '.ts')));
});

const specifiers = existingEntries.map((name) => path.posix.join('fairlead', name));

// It is awaited before the first test: a test that ends while the file still loads would end the run, and remove the directory.
const skip = await noSandbox();
const home = mkdtempSync(path.join(tmpdir(), 'fairlead-package-'));
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

let packed: PackedPackage | undefined;

before(() => {
  packed = packPackage(home);
  const files = {
    'package.json': '{ "name": "home", "private": true, "type": "module" }',
    'server.mjs': mcpServer,
    'program.ts': program,
    'use.ts': specifiers.map((name, i) => `import * as m${i} from '${name}';\nexport { m${i} };`).join('\n'),
    'answers.json': JSON.stringify(answers),
    'project/a.txt': 'old text\n',
  };
  mkdirSync(path.join(home, 'project'));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(home, name), text);
  runNpm(home, 'install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', packed.tarball);
});

test('[P54, P60, A98] the packed package installs into an empty directory, runs its commands there, and an agent created with it answers', () => {
  const shipped = packed?.files ?? [];
  assert.deepEqual(
    shipped.filter(
      (file) => !/^(dist\/|prompts\/[\w-]+\.md$|(README|LICENSE|NOTICE|CHANGELOG)(\.md)?$|package\.json$)/.test(file),
    ),
    [],
    'only dist, the prompts, the licence and the documents are published',
  );
  assert.deepEqual(
    shipped.filter((file) => /\.test\.|\.ts$(?<!\.d\.ts)/.test(file)),
    [],
    'no tests and no sources are published',
  );
  assert.ok(shipped.includes('dist/web/index.html'), 'the dashboard is published');
  assert.ok(shipped.includes('prompts/code-review.md'), 'the prompts are published');

  assert.deepEqual(
    readdirSync(path.join(home, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['fairlead'],
    'no other package is needed',
  );

  const says = (name: string, ...args: string[]): string =>
    execFileSync(path.join(home, 'node_modules/.bin', name), args, {
      encoding: 'utf8',
      cwd: home,
      shell: process.platform === 'win32',
    });
  for (const name of ['fairlead', 'harness', 'start-harness', 'start-harness-jayjader'])
    assert.equal(
      says(name, '--version'),
      `${manifest.version}
`,
    );
  assert.match(says('harness-serve', '--help'), /^Usage: fairlead serve/);
  const agent = [
    "import { Agent } from 'fairlead';",
    "import { scriptedProvider } from 'fairlead/testing';",
    'const model = scriptedProvider(({ prompt }) => `You said: ${prompt}`);',
    "console.log((await new Agent({ model }).run('hello')).text);",
  ].join('\n');
  const answer = execFileSync(process.execPath, ['--input-type=module', '--eval', agent], {
    cwd: home,
    encoding: 'utf8',
  });
  assert.equal(answer, 'You said: hello\n');

  const script = specifiers.map((name) => `if (!(await import('${name}'))) throw new Error('${name}');`).join('\n');
  execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: home, encoding: 'utf8' });

  // Modules that are loaded on demand load too.
  const chunks = path.join(home, 'node_modules/fairlead/dist/chunks');
  const every = readdirSync(chunks).filter((name) => name.endsWith('.js'));
  assert.ok(every.length > 100, `${every.length} chunks`);
  const loading = `for (const name of ${JSON.stringify(every)}) await import('${pathToFileURL(chunks).href}/' + name);\nprocess.exit();`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', loading], { cwd: home, encoding: 'utf8' });
});

test('[P54, P60, A98] the types of every entry, and a program that uses only fairlead/coding-agent, pass tsc --strict', () => {
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
    execFileSync(process.execPath, [tsc, ...options, ...types, 'use.ts', 'program.ts'], {
      cwd: home,
      encoding: 'utf8',
    }),
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
