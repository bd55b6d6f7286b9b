// Reads the kill switch for HTTP clients: a kill switch that cannot be read counts as stopped.
import { errorMessage, type KillSwitchState } from '../../core/index.ts';
import type { ServerContext } from './context.ts';

const unreadableStatus: KillSwitchState = {
  stopped: true,
  reason: 'The kill switch cannot be read, so it counts as stopped.',
};

/** Returns the state of the kill switch. Why it cannot be read goes to the server's own output: it may name paths and addresses. */
export async function readKillSwitchStatus({
  store,
  notify,
}: Pick<ServerContext, 'store' | 'notify'>): Promise<KillSwitchState> {
  try {
    const state = await store.killSwitch.status();
    // A store reports an unreadable row as stopped without a time.
    if (!state.stopped || state.since !== undefined) return state;
    notify(state.reason ?? 'The kill switch cannot be read.');
  } catch (error) {
    notify(`The kill switch cannot be read: ${errorMessage(error)}`);
  }
  return unreadableStatus;
}
