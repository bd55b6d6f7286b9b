// Sidecar index of a closed file without branches: it covers the whole file, and is not used if the bytes differ.
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Event, Log } from '../../core/index.ts';
import { openJsonl } from '../index.ts';

const indexBytes = 1000;

async function createClosedFile(t: TestContext, events = 40): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-straight-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'session.jsonl');
  const log = await openJsonl(file, { indexBytes });
  for (let n = 0; n < events; n++) await log.append(n, [{ type: 'annotation-added', key: 'n', value: n }]);
  await log.close();
  return file;
}

async function readEvents(log: Log): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const batch of log.read()) events.push(...batch);
  return events;
}

test('a file without branches opens from its index, reads the same events, and continues', async (t) => {
  const file = await createClosedFile(t);
  const plain = await openJsonl(file, { mode: 'read' });
  const log = await openJsonl(file, { indexBytes });
  assert.deepEqual(log.opened, { from: 'index', lines: 0 });
  const events = await readEvents(log);
  assert.equal(events.length, 40);
  assert.deepEqual(events, await readEvents(plain));
  const [added] = await log.append(40, [{ type: 'annotation-added', key: 'n', value: 40 }]);
  assert.equal(added?.parent, events.at(-1)?.id);
  await log.close();
  await plain.close();
  rmSync(`${file}.index`);
  const again = await openJsonl(file, { mode: 'read' });
  assert.equal(again.opened.from, 'start');
  assert.deepEqual(again.report, []);
  assert.equal((await readEvents(again)).length, 41);
  await again.close();
});

test('lines after the index are scanned', async (t) => {
  const file = await createClosedFile(t);
  const log = await openJsonl(file, { indexBytes });
  const index = readFileSync(`${file}.index`);
  await log.append(40, [{ type: 'annotation-added', key: 'n', value: 40 }]);
  await log.close();
  writeFileSync(`${file}.index`, index);
  const next = await openJsonl(file, { mode: 'read' });
  assert.deepEqual(next.opened, { from: 'index', lines: 1 });
  assert.equal((await readEvents(next)).length, 41);
  await next.close();
});

test('the index of a file that was changed, truncated or extended by hand is not used', async (t) => {
  const changes: Readonly<Record<string, (file: string) => void>> = {
    changed: (file) => writeFileSync(file, readFileSync(file, 'utf8').replace('"value":7', '"value":8')),
    cut: (file) => writeFileSync(file, readFileSync(file, 'utf8').slice(0, -300)),
    lengthened: (file) => appendFileSync(file, 'not an event\n'),
  };
  for (const [what, change] of Object.entries(changes)) {
    const file = await createClosedFile(t);
    assert.ok(existsSync(`${file}.index`));
    change(file);
    const log = await openJsonl(file, { mode: 'read' });
    assert.notDeepEqual(log.report, [], what);
    await log.close();
  }
});

test('the index of a file with a branch does not cover the whole file', async (t) => {
  const file = await createClosedFile(t);
  const log = await openJsonl(file, { indexBytes });
  const [, second] = await readEvents(log);
  await log.append(40, [{ type: 'branch-started', from: second?.id ?? '', reason: 'rewound' }], {
    parent: second?.id ?? '',
  });
  await log.close();
  const next = await openJsonl(file, { mode: 'read' });
  assert.equal((await readEvents(next)).length, 3);
  await next.close();
});
