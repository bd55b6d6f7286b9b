// Process lease in a PostgreSQL store. The heartbeat of the process lease is sent every quarter of the lease (2.5 seconds by default); sessions and runs of a process that ended or sends none are taken over.
import { parseLockOwner, isOwnerAlive, createLockOwner } from '../lock-owner.ts';
import { createLeaseLossListeners, type LeaseLossListeners } from '../lease-loss-listeners.ts';
import { formatRunOutcome, workerLostOutcome } from '../run-row.ts';
import { settlesWithin, closeTimeoutMs } from '../timeouts.ts';
import type { PostgresContext } from './context.ts';

/** The lease under which this process holds sessions and runs. */
export type PostgresProcessLease = Pick<LeaseLossListeners, 'onLost'> & {
  /** The token of the lease; starts a new lease if there is none. */
  token(): Promise<string>;
  /** False if other processes have taken this lease over; the listeners are then called. */
  isValid(): Promise<boolean>;
  /** Takes over from expired leases, or from one of them: their runs are queued again, and appends to their sessions are refused. */
  reapExpired(token?: string): Promise<void>;
  close(): Promise<void>;
};

/** A lease runs from the start of the server at the earliest: while the server is down no process can send a heartbeat. */
export const isExpiredSql =
  "greatest(seen, pg_postmaster_start_time()) < clock_timestamp() - lease * interval '1 millisecond'";

const startSql =
  'INSERT INTO fairlead.presences (token, holder, lease) VALUES ($1, $2, $3) ON CONFLICT (token) DO NOTHING';

/** Not durable: a heartbeat need not survive a crash of the server. */
const heartbeatSql = `
UPDATE fairlead.presences SET seen = clock_timestamp() FROM set_config('synchronous_commit', 'off', true)
WHERE token = $1 RETURNING token`;

/** Creates the lease of this process. */
export function createPostgresProcessLease(
  context: PostgresContext,
  leaseMs: number,
  maxWorkerLosses: number,
): PostgresProcessLease {
  const { db } = context;
  let token: Promise<string> | undefined;
  /** The same token once it is known; undefined after the lease was lost. */
  let current: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  const { onLost, notifyLost } = createLeaseLossListeners(() => current);

  async function start(): Promise<string> {
    const owner = createLockOwner();
    let lastSuccess = performance.now();
    await db.all(startSql, [owner.token, JSON.stringify(owner), leaseMs]);
    let isSending = false;

    /** A heartbeat that updates no row is too late, and so is one without a reply in time: other processes may have taken over. */
    async function sendLeaseHeartbeat(): Promise<void> {
      if (performance.now() - lastSuccess > leaseMs) return lose(owner.token);
      if (isSending) return;
      isSending = true;
      const now = performance.now();
      try {
        if (!(await db.one(heartbeatSql, [owner.token], { retryForMs: 0 }))) lose(owner.token);
        lastSuccess = now;
      } catch {
        // The next heartbeat may succeed.
      } finally {
        isSending = false;
      }
    }

    timer = setInterval(() => void sendLeaseHeartbeat(), Math.max(10, leaseMs / 4)).unref();
    current = owner.token;
    return owner.token;
  }

  function lose(lost: string): void {
    clearInterval(timer);
    token = undefined;
    current = undefined;
    notifyLost(lost);
  }

  async function reap(expired: string): Promise<void> {
    const outcome = formatRunOutcome(workerLostOutcome(maxWorkerLosses));
    await db.all('SELECT fairlead.bury($1, $2, $3)', [expired, outcome, maxWorkerLosses]);
    context.notify('queue');
  }

  return {
    onLost,
    async token() {
      token ??= start();
      try {
        return await token;
      } catch (error) {
        token = undefined;
        throw error;
      }
    },
    async isValid() {
      const own = await token;
      if (own === undefined) return true;
      if (await db.one('SELECT 1 FROM fairlead.presences WHERE token = $1', [own])) return true;
      if (own === current) lose(own);
      return false;
    },
    async reapExpired(onlyToken) {
      const own = await token;
      const sql = `SELECT token, holder, ${isExpiredSql} AS expired FROM fairlead.presences WHERE $1::text IS NULL OR token = $1`;
      for (const row of await db.all<{ token: string; holder: string; expired: boolean }>(sql, [onlyToken ?? null])) {
        const owner = parseLockOwner(row.holder);
        const isExpired = row.expired || !owner || isOwnerAlive(owner) === false;
        if (isExpired && row.token !== own) await reap(row.token);
      }
    },
    async close() {
      clearInterval(timer);
      if (token) await settlesWithin(closeTimeoutMs, token);
      const own = current;
      token = undefined;
      // If the database cannot be reached, the lease expires.
      if (own !== undefined && !db.isClosed) await settlesWithin(closeTimeoutMs, reap(own));
    },
  };
}
