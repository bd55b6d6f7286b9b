// A clock that tests control: nothing waits in real time, and every requested wait can be inspected.
import type { Clock } from '../../src/providers/gateway/clock.ts';

type Timer = { readonly due: number; readonly fire: () => void; readonly hold: boolean };

/** A clock that does not move unless a test advances it. */
export type TestClock = Clock & {
  /** Advances the time and fires due timers, in order. */
  advance(ms: number): void;
  /** Advances the time without firing timers, as in a process that was suspended; due timers fire late, at the next step. */
  skip(ms: number): void;
  /** The lengths of the blocking waits, in the order they began. */
  readonly waits: number[];
  /** The number of active timers. */
  readonly pending: number;
};

/** The options for automatic advancing. */
type TestClockOptions = {
  /** Blocking waits end as soon as it is their turn. */
  readonly instant?: boolean;
  /** Time does not advance while this returns true. */
  readonly busy?: () => boolean;
  readonly random?: () => number;
};

/** Creates a test clock. */
export function createTestClock(options: TestClockOptions = {}): TestClock {
  const timers = new Set<Timer>();
  const waits: number[] = [];
  let now = 0;
  let jumping = false;

  const earliest = (all: readonly Timer[]): Timer | undefined =>
    all.reduce<Timer | undefined>((best, each) => (best && best.due <= each.due ? best : each), undefined);

  function fire(timer: Timer): void {
    timers.delete(timer);
    now = Math.max(now, timer.due);
    timer.fire();
  }

  function jump(): void {
    if (jumping) return;
    jumping = true;
    setImmediate(() => {
      jumping = false;
      if (options.busy?.()) {
        jump();
        return;
      }
      const next = earliest([...timers].filter((each) => each.hold));
      if (!next) return;
      fire(next);
      jump();
    });
  }

  return {
    waits,
    now: () => now,
    random: options.random ?? (() => 0.5),
    timer(ms, run, hold) {
      const timer: Timer = { due: now + Math.max(0, ms), fire: run, hold };
      timers.add(timer);
      if (hold) waits.push(ms);
      if (hold && options.instant) jump();
      return () => timers.delete(timer);
    },
    skip(ms) {
      now += ms;
    },
    advance(ms) {
      const until = now + ms;
      for (let next = earliest([...timers]); next && next.due <= until; next = earliest([...timers])) fire(next);
      now = until;
    },
    get pending() {
      return timers.size;
    },
  };
}
