// Kill switch in a database row: a row that is missing or cannot be read counts as stopped.
import { errorMessage, isObject, type KillSwitch, type KillSwitchState } from '../core/index.ts';
import { tryParseJson } from './try-parse-json.ts';

/** The name of the row in the table `control`. */
export const killSwitchRowName = 'standing';

/** How a store reads and writes its row. */
export type KillSwitchRow = {
  /** The JSON text of the row; undefined if there is no row. */
  read(): Promise<string | undefined>;
  /** Writes the row and wakes the workers. The row begins with the field `stopped`, which SQL statements match as text; `reason` is stored as `why`. */
  write(value: string): Promise<void>;
};

/** Creates the kill switch on a row. */
export function createKillSwitch(row: KillSwitchRow): KillSwitch {
  async function set(state: KillSwitchState): Promise<KillSwitchState> {
    const { stopped, reason: why, by, since } = state;
    await row.write(JSON.stringify({ stopped, why, by, since }));
    return state;
  }
  return {
    async status() {
      try {
        return parseKillSwitchState(await row.read());
      } catch (error) {
        return unreadableKillSwitch(errorMessage(error));
      }
    },
    stop: (reason, by) => set({ stopped: true, reason, by, since: new Date().toISOString() }),
    resume: (by) => set({ stopped: false, by, since: new Date().toISOString() }),
  };
}

/** The state that a row holds. Never throws: a row without a boolean `stopped` counts as stopped. */
export function parseKillSwitchState(text: string | undefined): KillSwitchState {
  if (text === undefined) return unreadableKillSwitch('it is missing');
  const value = tryParseJson(text);
  if (!isObject(value) || typeof value['stopped'] !== 'boolean')
    return unreadableKillSwitch('it does not say whether it is stopped');
  const { stopped, why, by, since } = value;
  const textField = (key: 'reason' | 'by' | 'since', field: unknown): Partial<KillSwitchState> =>
    typeof field === 'string' ? { [key]: field } : {};
  return { stopped, ...textField('reason', why), ...textField('by', by), ...textField('since', since) };
}

const unreadableKillSwitch = (reason: string): KillSwitchState => ({
  stopped: true,
  reason: `The kill switch cannot be read: ${reason}`,
});
