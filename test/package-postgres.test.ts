// The built program uses a fleet store in PostgreSQL from a directory with nothing else: no installed library is needed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { startPostgres } from './support/postgres.ts';
import { createProgramDirs } from './support/program-dirs.ts';

const root = path.resolve(import.meta.dirname, '..');
const postgres = await startPostgres();
const skip = typeof postgres === 'string' ? { skip: postgres } : {};
if (typeof postgres !== 'string') after(() => postgres.close());

test('[A52, A98] the built program uses a queue in PostgreSQL without any installed library', skip, async (t) => {
  assert.ok(existsSync(path.join(root, 'dist/bin.js')), 'dist is not built: run "npm run build" first');
  assert.ok(typeof postgres !== 'string');
  const store = await postgres.createDatabase();
  const { home, cwd, env } = createProgramDirs(t);
  cpSync(path.join(root, 'dist'), path.join(home, 'dist'), { recursive: true });
  cpSync(path.join(root, 'package.json'), path.join(home, 'package.json'));
  const run = (...words: string[]): string => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [path.join(home, 'dist/bin.js'), ...words, '--store', store],
      { cwd, env, encoding: 'utf8', timeout: 120_000 },
    );
    assert.equal(status, 0, stderr);
    assert.doesNotMatch(stderr, /dbos|deprecat/i);
    return stdout;
  };
  assert.equal(run('enqueue', 'do it', '--id', 'one', '--not-before', '2090-01-01T00:00:00Z'), 'one\n');
  assert.match(run('runs', 'show', 'one'), /do it/);
  run('runs', 'cancel', 'one');
  run('worker', '--drain');
  assert.match(run('runs', 'show', 'one'), /cancelled/);
});
