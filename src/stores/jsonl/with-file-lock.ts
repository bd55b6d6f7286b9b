// Runs a function while holding the lock of a file; waits while another process or another call holds it.
import { setTimeout as sleep } from 'node:timers/promises';
import { FairleadError } from '../../core/index.ts';
import { realDisk, type Disk } from './disk.ts';
import { acquireLock, defaultLockTimeoutMs, type FileLock } from './lock.ts';

/** Runs a function while holding the lock of a file in an existing directory; waits up to 10 seconds while another holds it. */
export async function withFileLock<T>(file: string, work: () => Promise<T>, disk: Disk = realDisk): Promise<T> {
  const until = Date.now() + 10_000;
  for (;;) {
    let lock: FileLock;
    try {
      lock = await acquireLock(disk, file, defaultLockTimeoutMs);
    } catch (error) {
      if (!(error instanceof FairleadError) || error.code !== 'store/locked' || Date.now() > until) throw error;
      await sleep(5 + Math.random() * 20);
      continue;
    }
    try {
      return await work();
    } finally {
      lock.release();
    }
  }
}
