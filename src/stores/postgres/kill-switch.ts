// The kill-switch of a PostgreSQL store: a row that must be there and be read, or everything is stopped.
import { errorMessage, type KillSwitch, type KillSwitchState } from '../../core/index.ts';
import { parseKillSwitchState, unreadableKillSwitch } from '../kill-switch-row.ts';
import type { PostgresContext } from './context.ts';

/** Whether work may go on; what cannot be read soon is stopped. */
export async function readPostgresKillSwitch({ db }: PostgresContext): Promise<KillSwitchState> {
  try {
    const sql = "SELECT value FROM fairlead.control WHERE name = 'standing'";
    const row = await db.one<{ value: string }>(sql, [], { retryForMs: 1000 });
    return row ? parseKillSwitchState(row.value) : unreadableKillSwitch('it is missing');
  } catch (error) {
    return unreadableKillSwitch(errorMessage(error));
  }
}

/** The kill-switch of a store. */
export function createPostgresKillSwitch(base: PostgresContext): KillSwitch {
  /** The first word of the row is the one that the queue reads. */
  const set = async (standing: KillSwitchState): Promise<KillSwitchState> => {
    const sql = `INSERT INTO fairlead.control (name, value) VALUES ('standing', $1)
      ON CONFLICT (name) DO UPDATE SET value = $1`;
    await base.db.all(sql, [JSON.stringify(standing)]);
    base.notify('queue');
    return standing;
  };
  return {
    status: () => readPostgresKillSwitch(base),
    stop: (why, by) => set({ stopped: true, why, by, since: new Date().toISOString() }),
    resume: (by) => set({ stopped: false, by, since: new Date().toISOString() }),
  };
}
