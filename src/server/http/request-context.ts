// Creates the context of a request from its client: the store, the streams and the health report that the client may see.
import type { FleetStore } from '../../core/index.ts';
import { createHealthReader, type Health, type HealthOptions } from '../../fleet/health/index.ts';
import type { ServerContext } from './context.ts';
import type { Caller } from './keys.ts';
import { createQueueQuota } from './queue-quota.ts';
import type { RunAuthority } from './run-authority.ts';
import { createScopedStore } from './scoped-store.ts';
import { createBroadcasters, type Broadcasters } from './session-broadcaster.ts';

/** What a server consists of: the context of its handlers without what depends on the client, and the store behind it. */
export type ServerParts = Omit<ServerContext, 'store' | 'broadcasters' | 'health'> & {
  readonly fleetStore: FleetStore;
  /** Objectives and thresholds of the health report. */
  readonly healthOptions: HealthOptions | undefined;
  /** Whether only this machine can reach the server. */
  readonly isLocal: boolean;
};

/** What all clients of a tenant share. */
type TenantParts = { readonly broadcasters: Broadcasters; readonly health: () => Promise<Health> };

/** Creates the function that returns the context of a client. Handlers get nothing else, so none can reach the store of all tenants. */
export function createContextProvider({
  fleetStore,
  healthOptions,
  isLocal,
  ...shared
}: ServerParts): (caller: Caller) => ServerContext {
  const tenants = new Map<string | undefined, TenantParts>();
  const quota = createQueueQuota(fleetStore.queue, shared.limits.queuedBytes);

  /** Tenants are those of the configured keys, so their number is bounded. */
  function getTenantParts(tenant: string | undefined): TenantParts {
    const known = tenants.get(tenant);
    if (known) return known;
    const caller: Caller = { role: 'reader', name: 'server', ...(tenant === undefined ? {} : { tenant }) };
    const authority: RunAuthority = { caller, folders: shared.folders, quota };
    const store = createScopedStore(fleetStore, authority);
    const all = createBroadcasters({ ...store, partialText: fleetStore.partialText }, shared.notify);
    const parts: TenantParts = {
      broadcasters: {
        async *subscribe({ session: name, ...target }, from, signal) {
          const found = await store.names.findSession(name);
          if (found) yield* all.subscribe({ ...target, session: found.session }, from, signal);
        },
        counts: () => all.counts(),
      },
      health: createHealthReader(store, healthOptions),
    };
    tenants.set(tenant, parts);
    return parts;
  }

  return (caller) => {
    const isOwner = caller.isOwner === true && caller.tenant === undefined;
    const canKeepPermissions = isOwner && isLocal;
    return {
      ...shared,
      ...getTenantParts(caller.tenant),
      terminalSessions: isOwner ? shared.terminalSessions : undefined,
      store: createScopedStore(fleetStore, { caller, folders: shared.folders, quota, canKeepPermissions }),
    };
  };
}
