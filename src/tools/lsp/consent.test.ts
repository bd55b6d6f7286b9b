// Approval of language servers: when the user is asked, how long the question stays open, and what an edit may start.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import {
  isToolOutput,
  errorMessage,
  type Json,
  type ToolOutput,
  type Tool,
  type ToolContext,
} from '../../core/index.ts';
import { localWorkspace } from '../../workspace/index.ts';
import { applyPatch } from '../patch/apply-patch.ts';
import {
  withDiagnostics,
  languageServers,
  type LanguageServerOptions,
  type LanguageServerDefinition,
} from './index.ts';

const script = path.resolve(import.meta.dirname, '../../../test/support/lsp-server.ts');
const signal = (): AbortSignal => new AbortController().signal;

function setup(t: TestContext, origin: LanguageServerDefinition['origin'], options: LanguageServerOptions = {}) {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-consent-')));
  const foo: LanguageServerDefinition = {
    name: 'foo',
    command: process.execPath,
    args: [script],
    languages: { '.foo': 'foo' },
    rootMarkers: [],
    origin,
    env: { NOTES: path.join(root, 'notes') },
  };
  const workspace = localWorkspace({ roots: [root] });
  const servers = languageServers(workspace, { servers: [foo], ...options });
  t.after(async () => {
    await servers.close();
    rmSync(root, { recursive: true, force: true });
  });
  return { root, workspace, servers };
}

test('an edit starts only servers that the user configured or approved; it asks no question and reads no program', async (t) => {
  let asked = 0;
  const read: string[] = [];
  const allowed = (): boolean => asked++ >= 0;
  const known = setup(t, 'built-in', { requestApproval: allowed });
  assert.equal(await known.servers.getIfReady('a.foo', signal()), undefined);
  const own = setup(t, 'user', { requestApproval: allowed });
  assert.equal((await own.servers.getIfReady('a.foo', signal()))?.connection.name, 'foo');
  const theirs = setup(t, 'project', { requestApproval: allowed, isApproved: (subject) => read.push(subject) < 0 });
  assert.equal(await theirs.servers.getIfReady('a.foo', signal()), undefined);
  const yes = setup(t, 'project', {
    requestApproval: allowed,
    isApproved: async (_, hash) => /^[\da-f]{64}$/.test(await hash()),
  });
  assert.equal((await yes.servers.getIfReady('a.foo', signal()))?.connection.name, 'foo');
  assert.equal(asked, 0);
  assert.equal(read.length, 2, 'the program and the definition');
});

test('a pipe in place of the TypeScript manifest does not block an edit', (t) => {
  const { root } = setup(t, 'user');
  mkdirSync(path.join(root, 'node_modules', 'typescript'), { recursive: true });
  for (const file of ['package.json', 'node_modules/typescript/package.json'])
    execFileSync('mkfifo', [path.join(root, file)]);
  const from = (name: string): string => JSON.stringify(import.meta.resolve(name));
  const code = `import { languageServers } from ${from('./index.ts')};
    import { localWorkspace } from ${from('../../workspace/index.ts')};
    const servers = languageServers(localWorkspace({ roots: [${JSON.stringify(root)}] }), {});
    console.log(await servers.getIfReady('a.ts', new AbortController().signal));`;
  // In another process, because a synchronous read of a pipe would block the test forever.
  const how = { timeout: 20_000, encoding: 'utf8' } as const;
  assert.equal(spawnSync(process.execPath, ['--input-type=module', '-e', code], how).stdout, 'undefined\n');
});

test('everything that needs approval is one question; it is withdrawn when the last caller stops waiting', async (t) => {
  const opened = Promise.withResolvers<AbortSignal>();
  let items = 0;
  const { servers } = setup(t, 'project', {
    async requestApproval(given, until) {
      items = given.length;
      opened.resolve(until);
      await new Promise((resolve) => until.addEventListener('abort', resolve));
      return false;
    },
  });
  const [one, other] = [new AbortController(), new AbortController()];
  const waiting = [one, other].map((each) => servers.open('a.foo', each.signal).catch(errorMessage));
  const question = await opened.promise;
  one.abort();
  assert.equal(await waiting[0], 'The run was cancelled.');
  assert.equal(question.aborted, false, 'the other one still waits');
  other.abort();
  assert.equal(await waiting[1], 'The run was cancelled.');
  assert.equal(question.aborted, true);
  assert.equal(items, 2);
});

test('[P19] diagnostics are reported for every file that a patch leaves', { timeout: 60_000 }, async (t) => {
  const place = realpathSync(mkdtempSync(path.join(tmpdir(), 'fairlead-consent-')));
  const root = path.join(place, 'root');
  mkdirSync(root);
  const workspace = localWorkspace({ roots: [root], blobs: path.join(place, 'blobs') });
  const servers = languageServers(workspace);
  t.after(async () => {
    await servers.close();
    rmSync(place, { recursive: true, force: true });
  });
  for (const name of ['a', 'b', 'c']) {
    writeFileSync(path.join(root, `${name}.ts`), 'export const x: string = "";\n');
    await workspace.read(`${name}.ts`);
  }
  await servers.open('a.ts', signal());
  const tool: Tool = withDiagnostics(workspace, servers, { waitMs: 20_000 })(applyPatch(workspace));
  const changed = (name: string): string =>
    `--- ${name}.ts\n+++ ${name}.ts\n@@ -1 +1 @@\n-export const x: string = "";\n+export const x: string = ${name.length};\n`;
  const gone = '--- c.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-export const x: string = "";\n';
  const input: Json = { paths: ['a.ts', 'b.ts', 'c.ts'], patch: changed('a') + changed('b') + gone };
  const result: unknown = await tool.execute(input, { signal: signal() } as ToolContext);
  assert.ok(isToolOutput(result));
  const { text, data } = result satisfies ToolOutput;
  assert.match(text, /\n2 new problems:\na\.ts:1:14: error 2322: .*\nb\.ts:1:14: error 2322: [^\n]*$/);
  assert.equal((data as { readonly problems: readonly Json[] }).problems.length, 2);
});
