// Limits the bytes of the runs that a tenant has in the queue, so that one client cannot fill the store.
import { defaultTenant, type NewRun, type RunQueue } from '../../core/index.ts';
import { createHttpError } from './errors.ts';

/** Throws 429 if these runs would exceed the limit of one of their tenants. */
export type QueueQuota = (runs: readonly NewRun[]) => Promise<void>;

/** What the runs of a tenant take, as of the last read of the store and with the runs accepted since. */
type TenantBytes = { bytes: number; readAt: number; reading?: Promise<void> | undefined };

/** The store is asked again after this time: runs have ended since, or other servers have queued some. */
const maxAgeMs = 5000;
/** The same for a tenant at its limit, so that the next run is accepted soon after others have ended. */
const maxAgeAtLimitMs = 2000;
const maxTenants = 1000;

/** Creates the quota of a server. Its requests share the figures, which cost the store a read of all open runs of the tenant. */
export function createQueueQuota(
  queue: Pick<RunQueue, 'openBytes'>,
  maxBytes: number,
  now: () => number = () => performance.now(),
): QueueQuota {
  const tenants = new Map<string, TenantBytes>();

  async function refresh(tenant: string, known: TenantBytes): Promise<void> {
    known.bytes = await queue.openBytes(tenant);
    known.readAt = now();
  }

  async function readBytes(tenant: string, added: number): Promise<TenantBytes> {
    const known = tenants.get(tenant) ?? { bytes: 0, readAt: Number.NEGATIVE_INFINITY };
    // Map order is insertion order: the least recently used tenant is deleted first.
    tenants.delete(tenant);
    tenants.set(tenant, known);
    for (const [oldest] of tenants) {
      if (tenants.size <= maxTenants) break;
      tenants.delete(oldest);
    }
    const maxAge = known.bytes + added > maxBytes ? maxAgeAtLimitMs : maxAgeMs;
    if (now() - known.readAt <= maxAge) return known;
    known.reading ??= refresh(tenant, known).finally(() => (known.reading = undefined));
    await known.reading;
    return known;
  }

  return async (runs) => {
    const addedBytes = new Map<string, number>();
    for (const run of runs) {
      const tenant = run.tenant ?? defaultTenant;
      addedBytes.set(tenant, (addedBytes.get(tenant) ?? 0) + countRunBytes(run));
    }
    for (const [tenant, added] of addedBytes) {
      const known = await readBytes(tenant, added);
      if (known.bytes + added > maxBytes)
        throw createHttpError(
          'server/too-many',
          `The runs of tenant ${tenant} that have not ended would take more than ${formatMebibytes(maxBytes)}. Wait until some have ended, or cancel some.`,
          { afterMs: maxAgeMs },
        );
      known.bytes += added;
    }
  };
}

const countRunBytes = ({ prompt, settings = {} }: NewRun): number =>
  Buffer.byteLength(prompt) + Buffer.byteLength(JSON.stringify(settings)) + 1024;

const formatMebibytes = (bytes: number): string => `${Math.round((bytes / 2 ** 20) * 100) / 100} MiB`;
