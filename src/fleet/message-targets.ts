// Finds the active runs of a session and checks whether a run accepts messages.
import { FairleadError, type FleetRun, type FleetStore } from '../core/index.ts';

type Store = Pick<FleetStore, 'queue'>;

/** Returns the runs of a session that have not ended: the started run first, then the queued ones in order. */
export async function listActiveRuns({ queue }: Store, session: string): Promise<readonly FleetRun[]> {
  const active = (await queue.list({ session })).filter(({ status }) => status !== 'ended').toReversed();
  return [...active.filter(({ started }) => started), ...active.filter(({ started }) => !started)];
}

/** Kinds of runs that only start child runs: they have no conversation that could read a message. */
const kindsWithoutInbox: Readonly<Record<string, string>> = { plan: 'a plan run', verify: 'a verification run' };

/** Throws if a run does not accept messages; the hint names its child runs, which do. */
export async function assertAcceptsMessages({ queue }: Store, { id, kind }: FleetRun): Promise<void> {
  const description = Object.hasOwn(kindsWithoutInbox, kind) ? kindsWithoutInbox[kind] : undefined;
  if (description === undefined) return;
  const children = (await queue.list({ parent: id })).filter(({ status }) => status !== 'ended');
  const names = children.map((run) => run.id).toReversed();
  throw new FairleadError('fleet/deaf', `${id} is ${description} and does not accept messages.`, {
    blame: 'user',
    hint:
      names.length > 0
        ? `Message one of its child runs (${names.slice(0, 5).join(', ')}), or cancel it.`
        : 'Message its child runs when they have started, or cancel it.',
  });
}
