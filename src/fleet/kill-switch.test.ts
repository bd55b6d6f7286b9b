// Tests of the kill switch monitor: an unknown state counts as stopped.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { KillSwitch, KillSwitchState } from '../core/index.ts';
import { watchKillSwitch, type KillSwitchWatcher } from './kill-switch.ts';

type FakeKillSwitch = KillSwitch & { mode: 'going' | 'stopped' | 'broken' | 'hanging'; reads: number };

/** A kill switch with a store that can fail. */
function createFakeKillSwitch(how: FakeKillSwitch['mode']): FakeKillSwitch {
  return {
    mode: how,
    reads: 0,
    async status() {
      this.reads++;
      if (this.mode === 'broken') throw new Error('the disk is gone');
      if (this.mode === 'hanging') return new Promise<KillSwitchState>(() => {});
      return { stopped: this.mode === 'stopped', reason: 'told to' };
    },
    stop: () => Promise.reject(new Error('not here')),
    resume: () => Promise.reject(new Error('not here')),
  };
}

function startWatcher(t: TestContext, killSwitch: FakeKillSwitch, seen: boolean[] = []): KillSwitchWatcher {
  const watch = watchKillSwitch(killSwitch, {
    pollMs: 10,
    staleMs: 100,
    onChange: ({ stopped }) => seen.push(stopped),
  });
  t.after(() => watch.close());
  return watch;
}

/** Waits for a state; the timeout is that of the test runner. */
async function waitForStopped(watch: KillSwitchWatcher, stopped: boolean): Promise<KillSwitchState> {
  for (;;) {
    const standing = await watch.status();
    if (standing.stopped === stopped) return standing;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('[A95] a kill switch that is stopped, fails or does not respond at the start allows no work', async (t) => {
  for (const how of ['stopped', 'broken', 'hanging'] as const) {
    const watch = startWatcher(t, createFakeKillSwitch(how));
    assert.equal(watch.activeSignal.aborted, true, how);
    await assert.rejects(watch.assertNotStopped(), { code: 'run/left' }, how);
  }
});

test('[A95] a store that fails or hangs during work stops it with a reason, and work resumes when the store is back', async (t) => {
  for (const how of ['broken', 'hanging'] as const) {
    const seen: boolean[] = [];
    const killSwitch = createFakeKillSwitch('going');
    const watch = startWatcher(t, killSwitch, seen);
    await watch.assertNotStopped();
    const { activeSignal } = watch;
    assert.equal(activeSignal.aborted, false);
    killSwitch.mode = how;
    const { reason: why } = await waitForStopped(watch, true);
    assert.match(why ?? '', how === 'broken' ? /cannot be read: the disk is gone/ : /no response within 50 ms/);
    assert.equal(activeSignal.aborted, true);
    killSwitch.mode = 'going';
    await watch.waitUntilActive(AbortSignal.timeout(30_000));
    await watch.assertNotStopped();
    assert.deepEqual([seen, watch.activeSignal.aborted], [[false, true, false], false]);
  }
});

test('a recent read is used without another read', async (t) => {
  const killSwitch = createFakeKillSwitch('going');
  const watch = watchKillSwitch(killSwitch, { pollMs: 60_000, staleMs: 60_000 });
  t.after(() => watch.close());
  await watch.assertNotStopped();
  const { reads } = killSwitch;
  for (let i = 0; i < 10; i++) await watch.assertNotStopped();
  assert.equal(killSwitch.reads, reads);
});

test('a caller that waits for the fleet to resume returns when it is aborted', async (t) => {
  const watch = startWatcher(t, createFakeKillSwitch('stopped'));
  const leave = new AbortController();
  const waiting = watch.waitUntilActive(leave.signal);
  leave.abort();
  await waiting;
  await watch.waitUntilActive(leave.signal);
});
