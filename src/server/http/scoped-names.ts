// Names of runs, sessions and schedules as one client sees them: finds what belongs to its tenant, and puts the names that it chooses under its tenant.
import { FairleadError, type FleetRun, type FleetStore } from '../../core/index.ts';
import { createHttpError } from './errors.ts';

/** A session by its name in the store, and the tenant that it belongs to. */
export type FoundSession = { readonly session: string; readonly tenant: string | undefined };

/** Finds what one tenant may see; without a tenant, everything. */
export type ScopedNames = {
  /** Whether something of this tenant is visible. */
  isVisible(tenant: string | undefined): boolean;
  findRun(id: string): Promise<FleetRun | undefined>;
  /** Finds a session, or the queued runs that will create it. */
  findSession(name: string): Promise<FoundSession | undefined>;
  /** Like `findSession`; throws `store/no-session` if there is none, or if it belongs to another tenant. */
  requireSession(name: string): Promise<FoundSession>;
  /** The name in the store of something new: two tenants may choose the same name, and neither learns of the other. */
  qualify(name: string): string;
};

/** As long as the names that requests may contain, so that the name in the store can be requested too. */
const maxNameLength = 200;

/** Creates the names of a tenant. */
export function createScopedNames(
  { queue, sessions }: Pick<FleetStore, 'queue' | 'sessions'>,
  tenant: string | undefined,
): ScopedNames {
  const isVisible = (owner: string | undefined): boolean => tenant === undefined || owner === tenant;
  const addPrefix = (name: string): string =>
    tenant === undefined || name.startsWith(`${tenant}:`) ? name : `${tenant}:${name}`;
  /** The names in the store that a requested name may stand for: all are read, so that a foreign one takes as long as a missing one. */
  const candidates = (name: string): readonly string[] => [...new Set([name, addPrefix(name)])];

  async function findOwner(session: string): Promise<FoundSession | undefined> {
    const info = await sessions.find(session);
    if (info) return { session, tenant: info.tenant };
    const owners = new Set((await queue.list({ session })).map((run) => run.tenant));
    const [owner] = owners;
    return owners.size === 0 ? undefined : { session, tenant: owners.size === 1 ? owner : undefined };
  }

  async function findSession(name: string): Promise<FoundSession | undefined> {
    const found = await Promise.all(candidates(name).map(findOwner));
    return found.find((each) => each && isVisible(each.tenant));
  }

  return {
    isVisible,
    async findRun(id) {
      const runs = await Promise.all(candidates(id).map((each) => queue.run(each)));
      return runs.find((run) => run && isVisible(run.tenant));
    },
    findSession,
    async requireSession(name) {
      const found = await findSession(name);
      if (found) return found;
      throw new FairleadError('store/no-session', `There is no session ${name} in this store.`, {
        blame: 'user',
        hint: 'List the sessions to see the available ids.',
      });
    },
    qualify(name) {
      const qualified = addPrefix(name);
      if (qualified.length <= maxNameLength) return qualified;
      throw createHttpError(
        'server/bad-request',
        `The name is too long: with its tenant, use at most ${maxNameLength} characters.`,
      );
    },
  };
}
