// Wait list of a SQLite store: changes made in this process wake at once, changes of other processes are found by polling.
import { createWaiters, type Waiters } from '../waiters.ts';

/**
 * Creates a wait list that polls while a reader waits. `version` returns a number that differs once another process has written;
 * such a change wakes every topic.
 */
export function createPollingWaiters(version: () => number, pollMs: number): Waiters {
  let last: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  function poll(): void {
    let now: number | undefined;
    try {
      now = version();
    } catch {
      // Readers wake, read for themselves, and report the error.
    }
    if (now !== undefined && now === last) return;
    last = now;
    waiters.notifyAll();
  }

  const waiters = createWaiters({
    onActive() {
      timer = setInterval(poll, pollMs);
    },
    onIdle() {
      clearInterval(timer);
    },
  });
  return waiters;
}
