// The kill-switch of a SQLite store: a row that must be there and be read, or everything is stopped.
import { errorMessage, type KillSwitch, type KillSwitchState } from '../../core/index.ts';
import { standingIn, unreadable } from '../standing.ts';
import type { Base } from './base.ts';

/** Whether work may go on; what cannot be read is stopped. */
export function readStanding(base: Base): KillSwitchState {
  try {
    if (!base.isInPlace()) return unreadable('the database file is gone');
    const sql = "SELECT value FROM control WHERE name = 'standing'";
    const row = base.read(() => base.one<{ value: string }>(sql));
    return row ? standingIn(row.value) : unreadable('it is missing');
  } catch (error) {
    return unreadable(errorMessage(error));
  }
}

/** The kill-switch of a store. */
export function killSwitchOf(base: Base): KillSwitch {
  const set = (standing: KillSwitchState): Promise<KillSwitchState> =>
    base.write(() => {
      const sql = "INSERT INTO control (name, value) VALUES ('standing', ?1) ON CONFLICT DO UPDATE SET value = ?1";
      base.run(sql, JSON.stringify(standing));
      base.touch('queue');
      return standing;
    });
  return {
    status: async () => readStanding(base),
    stop: (why, by) => set({ stopped: true, why, by, since: new Date().toISOString() }),
    resume: (by) => set({ stopped: false, by, since: new Date().toISOString() }),
  };
}
