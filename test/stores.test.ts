// Conformance of the JSONL, memory and SQLite stores, by the same suite.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { FleetStore } from '../src/core/index.ts';
import { jsonlSessions } from '../src/stores/index.ts';
import { damageConformance } from './support/damage-conformance.ts';
import { processConformance } from './support/process-conformance.ts';
import { sessionsConformance } from './support/sessions-conformance.ts';
import { executeSql, openSqliteStore, createSqlitePath } from './support/sqlite-store.ts';
import { storeConformance } from './support/store-conformance.ts';

function createTempDir(t: TestContext): string {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'fairlead-stores-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function createSqliteOpener(t: TestContext): Promise<() => Promise<FleetStore>> {
  const file = createSqlitePath(t);
  return () => openSqliteStore(t, file);
}

sessionsConformance('jsonl', async (t) => {
  const folder = createTempDir(t);
  return async () => jsonlSessions(folder);
});

storeConformance('sqlite', createSqliteOpener);

processConformance('sqlite', async (t) => createSqlitePath(t));

damageConformance('sqlite', async (t) => {
  const file = createSqlitePath(t);
  return {
    store: await openSqliteStore(t, file),
    change: async (sql) =>
      executeSql(
        file,
        sql((name) => name),
      ),
  };
});

test('a program that keeps sessions in files does not load SQLite', () => {
  const index = path.join(import.meta.dirname, '../src/stores/index.ts');
  const script = `
    const { openFleetStore } = await import(${JSON.stringify(index)});
    const isLoaded = () => process.moduleLoadList.some((name) => name.includes('sqlite'));
    const before = isLoaded();
    await (await openFleetStore('sqlite:' + process.argv[1])).close();
    process.stdout.write(before + ' ' + isLoaded());`;
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'fairlead-stores-'));
  const args = ['--input-type=module', '-e', script, path.join(folder, 'fleet.sqlite')];
  assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8' }), 'false true');
  fs.rmSync(folder, { recursive: true });
});
