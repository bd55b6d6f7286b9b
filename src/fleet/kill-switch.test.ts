// A kill-switch that is heeded: what is not known to go is stopped.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { KillSwitch, KillSwitchState } from '../core/index.ts';
import { watchSwitch, type SwitchWatch } from './kill-switch.ts';

type Faulty = KillSwitch & { how: 'going' | 'stopped' | 'broken' | 'hanging'; reads: number };

/** A kill-switch whose store can break. */
function faulty(how: Faulty['how']): Faulty {
  return {
    how,
    reads: 0,
    async status() {
      this.reads++;
      if (this.how === 'broken') throw new Error('the disk is gone');
      if (this.how === 'hanging') return new Promise<KillSwitchState>(() => {});
      return { stopped: this.how === 'stopped', why: 'told to' };
    },
    stop: () => Promise.reject(new Error('not here')),
    resume: () => Promise.reject(new Error('not here')),
  };
}

function watched(t: TestContext, killSwitch: Faulty, seen: boolean[] = []): SwitchWatch {
  const watch = watchSwitch(killSwitch, { everyMs: 10, staleMs: 100, changed: ({ stopped }) => seen.push(stopped) });
  t.after(() => watch.close());
  return watch;
}

/** Waits until it stands so; the test runner's own time bounds it. */
async function untilStopped(watch: SwitchWatch, stopped: boolean): Promise<KillSwitchState> {
  for (;;) {
    const standing = await watch.standing();
    if (standing.stopped === stopped) return standing;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('[A95] what is stopped, broken or silent from the beginning lets nothing go', async (t) => {
  for (const how of ['stopped', 'broken', 'hanging'] as const) {
    const watch = watched(t, faulty(how));
    assert.equal(watch.going.aborted, true, how);
    await assert.rejects(watch.mustGo(), { code: 'run/left' }, how);
  }
});

test('[A95] a store that breaks or hangs while work goes on stops it, says why, and lets it go on when it is back', async (t) => {
  for (const how of ['broken', 'hanging'] as const) {
    const seen: boolean[] = [];
    const killSwitch = faulty('going');
    const watch = watched(t, killSwitch, seen);
    await watch.mustGo();
    const { going } = watch;
    assert.equal(going.aborted, false);
    killSwitch.how = how;
    const { why } = await untilStopped(watch, true);
    assert.match(why ?? '', how === 'broken' ? /cannot be read: the disk is gone/ : /did not answer within 50 ms/);
    assert.equal(going.aborted, true);
    killSwitch.how = 'going';
    await watch.untilGoing(AbortSignal.timeout(30_000));
    await watch.mustGo();
    assert.deepEqual([seen, watch.going.aborted], [[false, true, false], false]);
  }
});

test('a reading that is fresh is acted on without another', async (t) => {
  const killSwitch = faulty('going');
  const watch = watchSwitch(killSwitch, { everyMs: 60_000, staleMs: 60_000 });
  t.after(() => watch.close());
  await watch.mustGo();
  const { reads } = killSwitch;
  for (let i = 0; i < 10; i++) await watch.mustGo();
  assert.equal(killSwitch.reads, reads);
});

test('who waits for a fleet to go on is let go when it is told to leave', async (t) => {
  const watch = watched(t, faulty('stopped'));
  const leave = new AbortController();
  const waiting = watch.untilGoing(leave.signal);
  leave.abort();
  await waiting;
  await watch.untilGoing(leave.signal);
});
