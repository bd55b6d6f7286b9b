// Decides whether a run may continue its session: a session that had a run with `auto: true` accepts text of the role operator only.
import { FairleadError, type FleetRun, type RunQueue } from '../core/index.ts';

const runsPerRead = 16;

/** Returns the latest run of a session with `auto: true`, if there was one. */
export async function findAutoRun(queue: Pick<RunQueue, 'list'>, session: string): Promise<FleetRun | undefined> {
  let before: string | undefined;
  while (true) {
    const runs = await queue.list({
      session,
      mentionsAuto: true,
      limit: runsPerRead,
      ...(before === undefined ? {} : { before }),
    });
    const found = runs.find(({ settings }) => settings['auto'] === true);
    if (found || runs.length < runsPerRead) return found;
    before = runs.at(-1)?.id;
  }
}

/** Throws if a run of a client that is not an operator would continue a session with an automatic run: its rights may have changed since it was queued or scheduled. */
export async function assertMayContinueSession(
  queue: Pick<RunQueue, 'list'>,
  { session, settings }: FleetRun,
): Promise<void> {
  if (settings['role'] === undefined) return;
  const found = await findAutoRun(queue, session);
  if (found)
    throw new FairleadError(
      'fleet/session-rights',
      `Run ${found.id} of this session has auto: true, so the session accepts runs of the role operator only.`,
      { blame: 'user', hint: 'Fork the session, and start the run in the fork.' },
    );
}
