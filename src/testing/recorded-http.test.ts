// Recorded exchanges are read from a file, and an invalid file is a clear error.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { readRecordedExchanges } from './index.ts';

const recorded = path.resolve(import.meta.dirname, '../../../shared/data/wire/exchanges.jsonl');
const skip = existsSync(recorded) ? false : 'the recorded exchanges are not here';

const line = JSON.stringify({
  id: 'a#1',
  host: 'h',
  path: '/v1/messages?beta=true',
  status: 200,
  contentType: 'application/json',
  request: {},
  body: '{}',
});

test('each line is an exchange with its wire format, and empty lines are skipped', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-exchanges-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'x.jsonl');
  writeFileSync(file, `${line}\n\n${line}`);
  const exchanges = await readRecordedExchanges(file);
  assert.deepEqual(
    exchanges.map(({ id, format }) => [id, format]),
    [
      ['a#1', 'anthropic'],
      ['a#1', 'anthropic'],
    ],
  );
  writeFileSync(file, `${line}\n{"id":`);
  await assert.rejects(readRecordedExchanges(file), {
    code: 'testing/no-exchanges',
    message: /Line 2 of .* is not JSON/,
  });
  writeFileSync(file, '{"id":"x"}');
  await assert.rejects(readRecordedExchanges(file), { message: /host is missing/ });
  await assert.rejects(readRecordedExchanges(path.join(folder, 'none')), {
    code: 'testing/no-exchanges',
    blame: 'user',
  });
});

test('the recorded exchanges of real services all have a known wire format', { skip }, async () => {
  const exchanges = await readRecordedExchanges(recorded);
  assert.ok(exchanges.length > 300);
  assert.deepEqual(
    exchanges.filter((each) => each.format === undefined),
    [],
  );
});
