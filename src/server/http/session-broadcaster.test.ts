// A lookout whose memory is short: who is behind reads the log, and still misses nothing and sees nothing twice.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { openFleetStore } from '../../stores/open-fleet-store.ts';
import { createSessionBroadcaster } from './session-broadcaster.ts';

test('[A93] watchers that are slow, late or ahead see every event once, though a lookout keeps only a few', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-lookout-'));
  const store = await openFleetStore(path.join(folder, 'fleet.sqlite'));
  const log = await store.sessions.open('s');
  const append = async (from: number, to: number): Promise<void> => {
    for (let seq = from; seq <= to; seq++)
      await log.append(seq - 1, [{ type: 'annotation-added', key: 'n', value: seq }]);
  };
  await append(1, 40);
  const out = createSessionBroadcaster(store, { session: 's' }, 0, assert.fail, { items: 4, chars: 2000 });
  t.after(async () => {
    await out.close();
    await log.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const seen = async (from: number, to: number, slow: boolean): Promise<readonly number[]> => {
    const numbers: number[] = [];
    const leave = new AbortController();
    for await (const batch of out.frames(from, leave.signal)) {
      numbers.push(...[...batch.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)));
      if (slow) await new Promise((resolve) => setImmediate(resolve));
      if ((numbers.at(-1) ?? 0) >= to) break;
    }
    leave.abort();
    return numbers;
  };
  const span = (from: number, to: number): readonly number[] =>
    Array.from({ length: to - from }, (_, i) => from + i + 1);
  const watchers = [seen(0, 100, false), seen(0, 100, true), seen(17, 100, true), seen(60, 100, false)];
  await append(41, 100);
  const all = await Promise.all(watchers);
  assert.deepEqual(all, [span(0, 100), span(0, 100), span(17, 100), span(60, 100)]);
  assert.deepEqual(await seen(5, 100, false), span(5, 100));
});
