// The kill-switch of a SQLite store: a row that must be there and be read, or everything is stopped.
import { errorMessage, type KillSwitch, type KillSwitchState } from '../../core/index.ts';
import { parseKillSwitchState, unreadableKillSwitch } from '../kill-switch-row.ts';
import type { SqliteContext } from './context.ts';

/** Whether work may go on; what cannot be read is stopped. */
export function readSqliteKillSwitch(base: SqliteContext): KillSwitchState {
  try {
    if (!base.isSameFile()) return unreadableKillSwitch('the database file is gone');
    const sql = "SELECT value FROM control WHERE name = 'standing'";
    const row = base.read(() => base.one<{ value: string }>(sql));
    return row ? parseKillSwitchState(row.value) : unreadableKillSwitch('it is missing');
  } catch (error) {
    return unreadableKillSwitch(errorMessage(error));
  }
}

/** The kill-switch of a store. */
export function createSqliteKillSwitch(base: SqliteContext): KillSwitch {
  const set = (standing: KillSwitchState): Promise<KillSwitchState> =>
    base.write(() => {
      const sql = "INSERT INTO control (name, value) VALUES ('standing', ?1) ON CONFLICT DO UPDATE SET value = ?1";
      base.run(sql, JSON.stringify(standing));
      base.notify('queue');
      return standing;
    });
  return {
    status: async () => readSqliteKillSwitch(base),
    stop: (why, by) => set({ stopped: true, why, by, since: new Date().toISOString() }),
    resume: (by) => set({ stopped: false, by, since: new Date().toISOString() }),
  };
}
