// Who lives: each process that holds sessions or runs gives signs of life; what a dead or silent one held is taken from it.
import { parseLockOwner, isOwnerAlive, createLockOwner } from '../lock-owner.ts';
import { workerLostReason, tooManyFailuresOutcome, maxFailures } from '../run-row.ts';
import type { PostgresContext } from './context.ts';
import { settlesWithin, closeTimeoutMs } from './timeouts.ts';

/** This process as a holder of sessions and runs. */
export type PostgresProcessLease = {
  /** The name under which this process holds things now. */
  token(): Promise<string>;
  /** False where others have taken what this process held and it had not learnt of it; it does by this. */
  isValid(): Promise<boolean>;
  /** Calls back, once, when what was held under a name is held no more. */
  onLost(token: string, told: () => void): () => void;
  /** Takes what the gone held, or what one of them held if it is gone: their runs go back into the queue, their sessions' next appends are refused. */
  reapExpired(token?: string): Promise<void>;
  close(): Promise<void>;
};

/** Silence counts from the start of the server: while it was away nobody could give a sign. */
export const isExpiredSql =
  "greatest(seen, pg_postmaster_start_time()) < clock_timestamp() - lease * interval '1 millisecond'";

/** The presence of this process in a store. */
export function createPostgresProcessLease(base: PostgresContext, leaseMs: number): PostgresProcessLease {
  const { db } = base;
  const watchers = new Set<{ readonly token: string; readonly told: () => void }>();
  let token: Promise<string> | undefined;
  /** What was lost may be asked about after it was. */
  let current: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function enter(): Promise<string> {
    const holder = createLockOwner();
    let heard = performance.now();
    const sql =
      'INSERT INTO fairlead.presences (token, holder, lease) VALUES ($1, $2, $3) ON CONFLICT (token) DO NOTHING';
    await db.all(sql, [holder.token, JSON.stringify(holder), leaseMs]);
    let beating = false;

    /** A beat that reaches no row comes too late, and so does one that was not heard in time: others may have taken what was held. */
    async function beat(): Promise<void> {
      if (performance.now() - heard > leaseMs) return lose(holder.token);
      if (beating) return;
      beating = true;
      const now = performance.now();
      try {
        const sign = await db.one(heartbeatSql, [holder.token], { retryForMs: 0 });
        if (!sign) lose(holder.token);
        heard = now;
      } catch {
        // The next one may be heard.
      } finally {
        beating = false;
      }
    }

    timer = setInterval(() => void beat(), Math.max(10, leaseMs / 4)).unref();
    current = holder.token;
    return holder.token;
  }

  function lose(gone: string): void {
    clearInterval(timer);
    token = undefined;
    current = undefined;
    for (const watcher of watchers) {
      if (watcher.token !== gone) continue;
      watchers.delete(watcher);
      watcher.told();
    }
  }

  async function bury(gone: string): Promise<void> {
    const said = JSON.stringify(tooManyFailuresOutcome(maxFailures, workerLostReason));
    await db.all('SELECT fairlead.bury($1, $2)', [gone, said]);
    base.notify('queue');
  }

  return {
    async token() {
      token ??= enter();
      try {
        return await token;
      } catch (error) {
        token = undefined;
        throw error;
      }
    },
    async isValid() {
      const mine = await token;
      if (mine === undefined) return true;
      if (await db.one('SELECT 1 FROM fairlead.presences WHERE token = $1', [mine])) return true;
      if (mine === current) lose(mine);
      return false;
    },
    onLost(name, told) {
      const watcher = { token: name, told };
      watchers.add(watcher);
      if (name !== current) queueMicrotask(() => watchers.delete(watcher) && told());
      return () => watchers.delete(watcher);
    },
    async reapExpired(only) {
      const mine = await token;
      const sql = `SELECT token, holder, ${isExpiredSql} AS silent FROM fairlead.presences WHERE $1::text IS NULL OR token = $1`;
      for (const row of await db.all<{ token: string; holder: string; silent: boolean }>(sql, [only ?? null])) {
        const holder = parseLockOwner(row.holder);
        const isGone = row.silent || !holder || isOwnerAlive(holder) === false;
        if (isGone && row.token !== mine) await bury(row.token);
      }
    },
    async close() {
      clearInterval(timer);
      if (token) await settlesWithin(closeTimeoutMs, token);
      const mine = current;
      token = undefined;
      // Where it cannot be told, others find it out by the silence.
      if (mine !== undefined && !db.isClosed) await settlesWithin(closeTimeoutMs, bury(mine));
    },
  };
}

/** A sign of life need not survive a power cut. */
const heartbeatSql = `
UPDATE fairlead.presences SET seen = clock_timestamp() FROM set_config('synchronous_commit', 'off', true)
WHERE token = $1 RETURNING token`;
