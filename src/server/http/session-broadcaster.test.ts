// Tests of the session broadcaster with a small buffer: a subscriber that is behind reads the log, and gets every event once.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { openFleetStore } from '../../stores/open-fleet-store.ts';
import { createSessionBroadcaster } from './session-broadcaster.ts';

test('[A93] subscribers that are slow, late or ahead get every event once, although the buffer holds only a few', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'fairlead-broadcaster-'));
  const store = await openFleetStore(path.join(folder, 'fleet.sqlite'));
  const log = await store.sessions.open('s');
  const append = async (from: number, to: number): Promise<void> => {
    for (let seq = from; seq <= to; seq++)
      await log.append(seq - 1, [{ type: 'annotation-added', key: 'n', value: seq }]);
  };
  await append(1, 40);
  const broadcaster = createSessionBroadcaster(store, { session: 's' }, 0, assert.fail, { items: 4, chars: 2000 });
  t.after(async () => {
    await broadcaster.close();
    await log.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const readEvents = async (from: number, to: number, slow: boolean): Promise<readonly number[]> => {
    const numbers: number[] = [];
    const disconnect = new AbortController();
    for await (const batch of broadcaster.subscribe(from, disconnect.signal)) {
      numbers.push(...batch.flatMap((message) => (message.type === 'event' ? [message.event.seq] : [])));
      if (slow) await new Promise((resolve) => setImmediate(resolve));
      if ((numbers.at(-1) ?? 0) >= to) break;
    }
    disconnect.abort();
    return numbers;
  };
  const span = (from: number, to: number): readonly number[] =>
    Array.from({ length: to - from }, (_, i) => from + i + 1);
  const subscribers = [
    readEvents(0, 100, false),
    readEvents(0, 100, true),
    readEvents(17, 100, true),
    readEvents(60, 100, false),
  ];
  await append(41, 100);
  const all = await Promise.all(subscribers);
  assert.deepEqual(all, [span(0, 100), span(0, 100), span(17, 100), span(60, 100)]);
  assert.deepEqual(await readEvents(5, 100, false), span(5, 100));
});
