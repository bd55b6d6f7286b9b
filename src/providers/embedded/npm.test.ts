import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { FairleadError } from '../../core/index.ts';
import { resolveEmbeddedModel, tinyllama, type EmbeddedModel } from './models.ts';
import {
  hasRuntime,
  installRuntime,
  platformPackage,
  getNpmRegistry,
  runtimeDirectory,
  type NpmOptions,
} from './npm.ts';
import { dataDirectory } from './data-dir.ts';

function createTempDirectory(t: test.TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'fairlead-npm-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Creates a fake npm program with the behaviour of the test. */
function createFakeNpm(t: test.TestContext, does: string): NpmOptions & { readonly calls: () => readonly string[][] } {
  const tools = createTempDirectory(t);
  const log = path.join(tools, 'calls');
  writeFileSync(log, '');
  const cli = path.join(tools, 'npm-cli.cjs');
  writeFileSync(
    cli,
    `const fs = require('fs'); const args = process.argv.slice(2);
     const home = args[args.indexOf('--prefix') + 1];
     fs.appendFileSync(${JSON.stringify(log)}, JSON.stringify([process.cwd(), ...args]) + '\\n');
     ${does}`,
  );
  const calls = (): readonly string[][] =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as string[]);
  return { directory: path.join(createTempDirectory(t), 'data'), env: { ...process.env, npm_execpath: cli }, calls };
}

const code = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => {
      assert.ok(error instanceof FairleadError, String(error));
      assert.match(error.message, /[.)]$|: /);
      assert.ok(error.hint);
      return error.code;
    },
  );

const installScript = `const llama = home + '/node_modules/node-llama-cpp/llama';
  fs.mkdirSync(llama, { recursive: true }); fs.writeFileSync(llama + '/gitRelease.bundle', 'source');`;
const leftovers = (directory: string): readonly string[] =>
  readdirSync(path.join(directory, 'runtime')).filter((name) => name.startsWith('new-'));

test('the runtime is installed once, in exact versions, without scripts, and is renamed when it is complete', async (t) => {
  const options = createFakeNpm(t, installScript);
  assert.equal(hasRuntime(options.directory), false);
  const home = await installRuntime(options);
  assert.equal(home, runtimeDirectory(options.directory));
  assert.ok(existsSync(path.join(home, 'node_modules', 'node-llama-cpp')));
  assert.deepEqual(readdirSync(path.join(home, 'node_modules', 'node-llama-cpp', 'llama')), [], 'no source is kept');
  assert.equal(await installRuntime(options), home);
  const [call = [], ...more] = options.calls();
  assert.deepEqual(more, []);
  for (const flag of [
    'install',
    '--ignore-scripts',
    '--omit=optional',
    '--no-audit',
    '--no-fund',
    'node-llama-cpp@3.22.1',
  ])
    assert.ok(call.includes(flag), flag);
  assert.ok(call.includes(`${platformPackage()}@3.22.1`));
  assert.ok(call[0]?.includes('new-'), 'npm runs in the new folder, not in the project');
  assert.deepEqual(leftovers(options.directory), []);
});

for (const [what, does, expected] of [
  ['cannot reach the registry', `console.error('npm error code ENOTFOUND'); process.exit(1)`, 'embedded/offline'],
  ['finds the disk full', `console.error('npm error code ENOSPC'); process.exit(1)`, 'embedded/disk-full'],
  [
    'fails for another reason',
    `console.error('npm error code E1\\nnpm error Bad luck'); process.exit(1)`,
    'embedded/npm-failed',
  ],
] as const)
  test(`when npm ${what} the error is ${expected} and nothing is left`, async (t) => {
    const options = createFakeNpm(t, `${installScript} ${does}`);
    assert.equal(await code(installRuntime(options)), expected);
    assert.equal(hasRuntime(options.directory), false);
    assert.deepEqual(leftovers(options.directory), []);
  });

test('leftovers of an interrupted installation are deleted', async (t) => {
  const options = createFakeNpm(t, installScript);
  mkdirSync(path.join(options.directory, 'runtime', 'new-dead', 'node_modules'), { recursive: true });
  await installRuntime(options);
  assert.deepEqual(leftovers(options.directory), []);
});

test('an installation can be aborted', async (t) => {
  const stop = new AbortController();
  const options = createFakeNpm(t, `${installScript} setInterval(() => {}, 1000)`);
  const work = code(installRuntime({ ...options, signal: stop.signal }));
  while (options.calls().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  stop.abort();
  assert.equal(await work, 'embedded/cancelled');
  assert.deepEqual(leftovers(options.directory), []);
});

test('a missing npm is reported', async (t) => {
  const directory = createTempDirectory(t);
  const options = { directory, env: { PATH: createTempDirectory(t) }, node: path.join(directory, 'bin', 'node') };
  assert.equal(await code(installRuntime(options)), 'embedded/no-npm');
  assert.equal(await code(getNpmRegistry(options)), 'embedded/no-npm');
});

test('the registry is that of npm, not that of the project in the working directory', async (t) => {
  const options = createFakeNpm(t, `console.log('https://packages.example/npm/')`);
  assert.equal(await getNpmRegistry(options), 'https://packages.example/npm/');
  assert.equal(options.calls()[0]?.[0], options.directory);
  assert.equal(await code(getNpmRegistry(createFakeNpm(t, `console.log('undefined')`))), 'embedded/npm-failed');
});

test('each platform has its package, and an unsupported platform is refused', () => {
  assert.equal(platformPackage('linux', 'x64'), '@node-llama-cpp/linux-x64');
  assert.equal(platformPackage('darwin', 'arm64'), '@node-llama-cpp/mac-arm64-metal');
  assert.equal(platformPackage('win32', 'arm64'), '@node-llama-cpp/win-arm64');
  for (const [platform, arch] of [
    ['freebsd', 'x64'],
    ['linux', 's390x'],
    ['darwin', 'riscv64'],
  ] as const)
    assert.throws(() => platformPackage(platform, arch), { code: 'embedded/unsupported' });
});

test('the data directory follows the environment and the platform', () => {
  const home = { HOME: '/h' };
  const at = (env: Readonly<Record<string, string>>, platform: NodeJS.Platform): string =>
    dataDirectory(env, platform).replaceAll('\\', '/');
  assert.equal(at(home, 'linux'), '/h/.local/share/fairlead');
  assert.equal(at(home, 'darwin'), '/h/Library/Application Support/fairlead');
  assert.equal(at({ ...home, LOCALAPPDATA: '/l' }, 'win32'), '/l/fairlead');
  assert.equal(at({ ...home, XDG_DATA_HOME: '/x', HARNESS_ROOT_DIRS_NAME: 'mine' }, 'darwin'), '/x/mine');
  assert.equal(at({ ...home, XDG_DATA_HOME: 'relative' }, 'linux'), '/h/.local/share/fairlead');
  for (const name of ['..', 'a/b', 'a\\b'])
    assert.throws(() => dataDirectory({ ...home, HARNESS_ROOT_DIRS_NAME: name }), { code: 'embedded/bad-directory' });
});

test('a model is given by name or description; an invalid description is refused before any download', () => {
  for (const name of [undefined, '', 'tinyllama', 'tinyllama-1.1b-chat'])
    assert.equal(resolveEmbeddedModel(name), tinyllama);
  assert.throws(() => resolveEmbeddedModel('gpt-5'), { code: 'embedded/unknown-model' });
  const good: EmbeddedModel = {
    ...tinyllama,
    name: 'qwen',
    parts: [{ url: 'https://hub.example/q.gguf', bytes: 10 }],
    bytes: 10,
    template: 'chatml',
  };
  assert.equal(resolveEmbeddedModel(good), good);
  const wrong: readonly Partial<EmbeddedModel>[] = [
    { name: '../x' },
    { parts: [] },
    { bytes: 11 },
    { sha256: 'ABC' },
    { contextWindow: 1 },
    { template: 'nope' as 'chatml' },
    { parts: [{ url: 'file:///etc/passwd', bytes: 10 }] },
  ];
  for (const change of wrong)
    assert.throws(() => resolveEmbeddedModel({ ...good, ...change }), { code: 'embedded/bad-model' });
});
