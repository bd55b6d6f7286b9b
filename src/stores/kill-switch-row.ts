// Reads where a kill-switch stands: what says neither yes nor no is stopped.
import { isObject, type KillSwitchState } from '../core/index.ts';

/** The standing that a text says, as JSON. */
export function parseKillSwitchState(text: string): KillSwitchState {
  const value: unknown = JSON.parse(text);
  if (!isObject(value) || typeof value['stopped'] !== 'boolean')
    return unreadableKillSwitch('it says neither yes nor no');
  const word = (key: 'why' | 'by' | 'since'): Partial<KillSwitchState> => {
    const found = value[key];
    return typeof found === 'string' ? { [key]: found } : {};
  };
  return { stopped: value['stopped'], ...word('why'), ...word('by'), ...word('since') };
}

/** What cannot be read is stopped. */
export const unreadableKillSwitch = (why: string): KillSwitchState => ({
  stopped: true,
  why: `The kill-switch cannot be read: ${why}`,
});
