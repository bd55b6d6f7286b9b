// A fleet's store in one SQLite file: for any number of processes on one machine, with nothing to set up.
import path from 'node:path';
import type { FleetStore } from '../../core/index.ts';
import { liveOver } from '../live.ts';
import { openBase, type Base } from './base.ts';
import { openBus } from './bus.ts';
import { buryRuns } from './claim.ts';
import { inboxOf } from './inbox.ts';
import { killSwitchOf } from './kill-switch.ts';
import { ledgerOf } from './ledger.ts';
import { newPresence } from './presence.ts';
import { prune } from './prune.ts';
import { queueOf } from './queue.ts';
import { rosterOf } from './roster.ts';
import { sessionsOf } from './sessions.ts';
import { goneTrouble } from './trouble.ts';

/** How a store is to behave; what is absent is as usual. */
export type SqliteOptions = {
  /** How long a process may give no sign of life before others take what it holds, in milliseconds. One whose death can be seen is not waited for. */
  readonly leaseMs?: number;
  /** How long a run waits after working on it has failed once; twice as long each time after that. */
  readonly retryMs?: number;
  /** How often it is looked whether other processes have written. */
  readonly pollMs?: number;
};

/** Opens a store in a file, or makes one. */
export async function openSqlite(file: string, options: SqliteOptions = {}): Promise<FleetStore> {
  const { leaseMs = 10_000, retryMs = 1000, pollMs = 50 } = options;
  const base: Base = await openBase(file, pollMs);
  const presence = newPresence(base, leaseMs, (token) => buryRuns(base, token));
  const bus = openBus(base.file, pollMs);
  const live = liveOver(bus.make);
  return {
    description: `sqlite ${path.basename(file)}`,
    sessions: sessionsOf(base, presence),
    queue: queueOf(base, presence, retryMs),
    inbox: inboxOf(base),
    partialText: live,
    killSwitch: killSwitchOf(base),
    ledger: ledgerOf(base),
    workers: rosterOf(base),
    prune: (before) => prune(base, before),
    async ping() {
      base.read(() => base.one('SELECT 1 FROM control'));
      if (!base.isInPlace()) throw goneTrouble(base.file);
    },
    async close() {
      if (base.isClosed) return;
      await live.close();
      bus.close();
      await presence.close();
      await base.close();
    },
  };
}
