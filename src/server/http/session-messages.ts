// What is said to sessions that others hold: a letter is left, and the run that rests there is woken.
import type { FleetRun, FleetStore, InboxMessage } from '../../core/index.ts';
import { listActiveRuns } from '../../fleet/message-targets.ts';
import { sendMessage } from '../../fleet/index.ts';
import { createHttpError } from './errors.ts';

type Store = Pick<FleetStore, 'queue' | 'inbox'>;

/** The run that is in a session and has not ended, if there is one; of several, the one that the others wait for. */
export async function findActiveRun(store: Pick<FleetStore, 'queue'>, session: string): Promise<FleetRun | undefined> {
  return (await listActiveRuns(store, session))[0];
}

/** Leaves a letter to a session in which a run is, and wakes the run where it rests. */
export async function sendToSession(store: Store, session: string, letter: InboxMessage): Promise<FleetRun> {
  const run = await findActiveRun(store, session);
  // It may end between the look and the letter.
  if (run && (await sendMessage(store, session, letter))) return run;
  throw createHttpError('server/conflict', 'No run is in this session, so nobody would read it.', {
    hint: 'Begin one with POST /api/run and this session.',
  });
}
