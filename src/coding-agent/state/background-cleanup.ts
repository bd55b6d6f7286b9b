// Tidies up beside what a person does, so that nobody waits for it.
import type { AppDirs } from '../settings/dirs.ts';

/** Begins once what was opened is open, and stops when it is told to. What goes wrong is nobody's concern: the next day it is tried again. */
export function startBackgroundCleanup(dirs: Pick<AppDirs, 'state' | 'data'>): AbortController {
  const stop = new AbortController();
  setImmediate(() => {
    void import('./cleanup.ts')
      .then(({ cleanUpState }) => cleanUpState(dirs, { signal: stop.signal }))
      .catch(() => undefined);
  });
  return stop;
}
