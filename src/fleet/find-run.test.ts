// A run is found by its id or by the start of its id.
import assert from 'node:assert/strict';
import test from 'node:test';
import type { FleetRun, RunFilter } from '../core/index.ts';
import { findRun, shortenRunId } from './index.ts';

const ids = [
  '11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
  '11111111-bbbb-4bbb-8bbb-bbbbbbbbbbbb',
  '22222222-cccc-4ccc-8ccc-cccccccccccc',
  '22222222-cccc-4ccc-8ccc-cccccccccccc/step-1',
  'release-notes',
  'release',
  '44444444',
  'deadbeef',
  '44444444-eeee-4eee-8eee-eeeeeeeeeeee',
  ...Array.from({ length: 1200 }, (_, i) => `many-${i}`),
  '33333333-dddd-4ddd-8ddd-dddddddddddd',
];
const runs = ids.map((id) => ({ id }) as FleetRun);
const queue = {
  run: async (id: string) => runs.find((run) => run.id === id),
  async list({ limit = 100, before }: RunFilter = {}) {
    const start = before === undefined ? 0 : ids.indexOf(before) + 1;
    return runs.slice(start, start + limit);
  },
};

test('the start of an id finds the run, also far back; an exact id wins, and a start of several is an error', async () => {
  const find = async (id: string): Promise<string | undefined> => (await findRun(queue, id))?.id;
  assert.equal(await find('22222222'), ids[2], 'not its child');
  assert.equal(await find('22222222/step-1'), ids[3]);
  assert.equal(await find('2222'), ids[2]);
  assert.equal(await find('release'), 'release');
  assert.equal(await find('release-n'), 'release-notes');
  assert.equal(await find('33333333'), ids.at(-1), 'on a later page');
  assert.equal(await find('11111111-b'), ids[1]);
  assert.equal(await find('deadbeef'), 'deadbeef');
  await assert.rejects(
    find('44444444'),
    { code: 'fleet/ambiguous-run' },
    'the id of a run and the short id of another',
  );
  assert.equal(await find('44444444-e'), '44444444-eeee-4eee-8eee-eeeeeeeeeeee');
  assert.deepEqual([await find('none'), await find('')], [undefined, undefined]);
  await assert.rejects(find('11111111'), {
    code: 'fleet/ambiguous-run',
    message: '2 runs have an id that starts with 11111111.',
    hint: `Use more of the id: ${ids[0]}, ${ids[1]}.`,
  });
});

test('only the ids that the store made are shortened', () => {
  assert.deepEqual(
    [ids[2], ids[3], 'release-notes-2026'].map((id) => shortenRunId(id ?? '')),
    ['22222222', '22222222/step-1', 'release-notes-2026'],
  );
});
