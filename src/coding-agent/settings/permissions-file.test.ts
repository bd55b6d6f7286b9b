// Tests of permissions.yaml: grants of a project are kept for that project, can be read and revoked, and a broken file grants nothing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { sessionGrants, type GrantRule } from '../../guards/index.ts';
import { getPermissionsFile, permissionsFile, readPermissions } from './permissions-file.ts';

const rules: readonly GrantRule[] = [
  { type: 'command', tool: 'run_command', words: ['npm', 'test'] },
  { type: 'tool', tool: 'mcp__hub__greet' },
  { type: 'edits' },
  { type: 'call', key: 'run_command: echo "a: b" # c (in /p)' },
];

test('[A75] what is allowed in a project is kept in a readable file for that project, and revoked there', async (t) => {
  const config = mkdtempSync(path.join(tmpdir(), 'fairlead-permissions-'));
  t.after(() => rmSync(config, { recursive: true, force: true }));
  const grants = sessionGrants(permissionsFile(config, () => '/p'));
  for (const rule of rules) await grants.grant(rule, 'project');
  const file = getPermissionsFile(config);
  assert.match(
    readFileSync(file, 'utf8'),
    /^projects:\n {2}\/p:\n {4}- command:\n {8}- npm\n {8}- test\n {6}tool: run_command\n {4}- tool: mcp__hub__greet\n {4}- edits: true\n {4}- exactly: /m,
  );
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const later = sessionGrants(permissionsFile(config, () => '/p'));
  await later.refresh();
  assert.deepEqual(
    later.list(),
    rules.map((rule) => ({ rule, duration: 'project' })),
  );
  assert.ok(later.has('run_command: echo "a: b" # c (in /p)'));
  const elsewhere = sessionGrants(permissionsFile(config, () => '/p/sub'));
  await elsewhere.refresh();
  assert.deepEqual(elsewhere.list(), []);
  assert.equal(await later.revoke({ type: 'edits' }), true);
  await grants.refresh();
  assert.equal(grants.list().length, 3, 'another process sees the revocation');
});

test('[A75] a permissions file that cannot be understood grants nothing, is reported, and is not overwritten', async (t) => {
  const config = mkdtempSync(path.join(tmpdir(), 'fairlead-permissions-'));
  t.after(() => rmSync(config, { recursive: true, force: true }));
  const file = getPermissionsFile(config);
  for (const text of [
    'projects: [',
    'projects: 3\n',
    'projects:\n  /p: yes\n',
    'projects:\n  /p:\n    - everything: true\n',
  ]) {
    writeFileSync(file, text);
    const warnings: string[] = [];
    const grants = sessionGrants(
      permissionsFile(
        config,
        () => '/p',
        (warning) => warnings.push(warning),
      ),
    );
    await grants.refresh();
    assert.deepEqual(grants.list(), []);
    assert.match(warnings.join(), /permissions\.yaml cannot be used/);
    await assert.rejects(() => grants.grant({ type: 'edits' }, 'project'), /cannot be used/);
    assert.equal(readFileSync(file, 'utf8'), text);
  }
});

test('[A75] grants and revocations at the same time are all kept, within a process and between processes', async (t) => {
  const config = mkdtempSync(path.join(tmpdir(), 'fairlead-permissions-'));
  t.after(() => rmSync(config, { recursive: true, force: true }));
  const [a, b] = [permissionsFile(config, () => '/a'), permissionsFile(config, () => '/b')];
  const old: GrantRule = { type: 'tool', tool: 'mcp__old__delete' };
  await a.add(old);
  await Promise.all([a.remove(old), b.add({ type: 'edits' })]);
  assert.deepEqual([...(await readPermissions(config))], [['/b', [{ type: 'edits' }]]], 'a revoked one stays revoked');
  const module = new URL('permissions-file.ts', import.meta.url).href;
  const script = (project: string): string => `
    const { permissionsFile } = await import(${JSON.stringify(module)});
    const kept = permissionsFile(${JSON.stringify(config)}, () => ${JSON.stringify(project)});
    for (let i = 0; i < 10; i++) await kept.add({ type: 'tool', tool: 'tool-' + i });`;
  const codes = await Promise.all(
    ['/c', '/d'].map(async (project) => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script(project)], { timeout: 60_000 });
      return (await once(child, 'exit'))[0] as unknown;
    }),
  );
  assert.deepEqual(codes, [0, 0]);
  const all = await readPermissions(config);
  assert.deepEqual(
    ['/b', '/c', '/d'].map((project) => all.get(project)?.length),
    [1, 10, 10],
  );
});
