// The kill-switch of a PostgreSQL store: a row that must be there and be read, or everything is stopped.
import { errorMessage, type KillSwitch, type KillSwitchState } from '../../core/index.ts';
import { standingIn, unreadable } from '../standing.ts';
import type { Base } from './base.ts';

/** Whether work may go on; what cannot be read soon is stopped. */
export async function readStanding({ db }: Base): Promise<KillSwitchState> {
  try {
    const sql = "SELECT value FROM fairlead.control WHERE name = 'standing'";
    const row = await db.one<{ value: string }>(sql, [], { patienceMs: 1000 });
    return row ? standingIn(row.value) : unreadable('it is missing');
  } catch (error) {
    return unreadable(errorMessage(error));
  }
}

/** The kill-switch of a store. */
export function killSwitchOf(base: Base): KillSwitch {
  /** The first word of the row is the one that the queue reads. */
  const set = async (standing: KillSwitchState): Promise<KillSwitchState> => {
    const sql = `INSERT INTO fairlead.control (name, value) VALUES ('standing', $1)
      ON CONFLICT (name) DO UPDATE SET value = $1`;
    await base.db.all(sql, [JSON.stringify(standing)]);
    base.touch('queue');
    return standing;
  };
  return {
    status: () => readStanding(base),
    stop: (why, by) => set({ stopped: true, why, by, since: new Date().toISOString() }),
    resume: (by) => set({ stopped: false, by, since: new Date().toISOString() }),
  };
}
