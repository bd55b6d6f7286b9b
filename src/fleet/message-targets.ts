// Who in a session hears what is said to it, and who never does.
import { FairleadError, type FleetRun, type FleetStore } from '../core/index.ts';

type Store = Pick<FleetStore, 'queue'>;

/** The runs in a session that have not ended, the one that is under way first: of the others each waits for those before it. */
export async function listActiveRuns({ queue }: Store, session: string): Promise<readonly FleetRun[]> {
  const live = (await queue.list({ session })).filter(({ status }) => status !== 'ended').toReversed();
  return [...live.filter(({ started }) => started), ...live.filter(({ started }) => !started)];
}

/** Runs that only begin others, by their kinds: they have no conversation in which words would be read or a question asked. */
const kindsWithoutInbox: Readonly<Record<string, string>> = { plan: 'a plan', verify: 'a verification' };

/** Throws where a run reads nothing that is said to it, and says which runs do. */
export async function assertAcceptsMessages({ queue }: Store, { id, kind }: FleetRun): Promise<void> {
  const what = Object.hasOwn(kindsWithoutInbox, kind) ? kindsWithoutInbox[kind] : undefined;
  if (what === undefined) return;
  const begun = (await queue.list({ parent: id })).filter(({ status }) => status !== 'ended');
  const names = begun.map((run) => run.id).toReversed();
  throw new FairleadError('fleet/deaf', `${id} is ${what}: it only begins other runs, and reads nothing itself.`, {
    blame: 'user',
    hint:
      names.length > 0
        ? `Speak to one of those it has begun (${names.slice(0, 5).join(', ')}), or cancel it.`
        : 'It can be cancelled; the runs that it begins can be spoken to.',
  });
}
