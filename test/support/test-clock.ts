// A clock that tests drive: nothing waits for real, and every wait that was asked for can be looked at.
import type { Clock } from '../../src/providers/gateway/clock.ts';

type Timer = { readonly due: number; readonly fire: () => void; readonly hold: boolean };

/** A clock that stands still until told otherwise. */
export type TestClock = Clock & {
  /** Goes forward and fires what falls due, in order. */
  advance(ms: number): void;
  /** Goes forward without firing anything, as for a process that was held up; what is due fires at the next step, late. */
  skip(ms: number): void;
  /** The lengths of the waits that held something up, in the order they began. */
  readonly waits: number[];
  /** How many timers are set. */
  readonly pending: number;
};

/** How a clock runs by itself. */
type TestClockOptions = {
  /** Waits that hold something up are over as soon as their turn comes. */
  readonly instant?: boolean;
  /** Time stands still as long as this is so. */
  readonly busy?: () => boolean;
  readonly random?: () => number;
};

/** A clock under control. */
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
