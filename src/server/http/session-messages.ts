// Sends messages to sessions that a worker has open, and finds the run that would read them.
import type { FleetRun, FleetStore, InboxMessage } from '../../core/index.ts';
import { sendMessage, listActiveRuns } from '../../fleet/index.ts';
import { createHttpError } from './errors.ts';

/** Returns the active run of a session, if there is one; if several are queued, the one that the others wait for. */
export async function findActiveRun(store: Pick<FleetStore, 'queue'>, session: string): Promise<FleetRun | undefined> {
  return (await listActiveRuns(store, session))[0];
}

/** Throws 409 if a session has an active run: two runs, or a run and an edit, must not change its history at once. */
export async function assertNoActiveRun(
  store: Pick<FleetStore, 'queue'>,
  session: string,
  hint: string,
): Promise<void> {
  const active = await findActiveRun(store, session);
  if (active)
    throw createHttpError('server/conflict', `Run ${active.id} is ${active.status} in this session.`, { hint });
}

/** Sends a message to the active run of a session, and wakes the run if it waits; throws 409 if there is none. */
export async function sendToSession(
  store: Pick<FleetStore, 'queue' | 'inbox'>,
  session: string,
  message: InboxMessage,
): Promise<FleetRun> {
  const run = await findActiveRun(store, session);
  // The run may end before the message is stored: sendMessage then returns false.
  if (run && (await sendMessage(store, session, message))) return run;
  throw createHttpError('server/conflict', 'No active run in this session.', {
    hint: 'Start one with POST /api/runs and this session.',
  });
}
