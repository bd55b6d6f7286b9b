// Process lease in a SQLite store. The heartbeat of the process lease is sent every quarter of the lease (2.5 seconds by default); sessions and runs of a process that ended or sends none are taken over.
import { heartbeatNow, parseLockOwner, isOwnerAlive, createLockOwner, msSinceHeartbeat } from '../lock-owner.ts';
import { createLeaseLossListeners, type LeaseLossListeners } from '../lease-loss-listeners.ts';
import type { SqliteContext } from './context.ts';

/** The lease under which this process holds sessions and runs. */
export type SqliteProcessLease = Pick<LeaseLossListeners, 'onLost'> & {
  /** Within a write: the token of the lease; starts a new lease if there is none. */
  token(): string;
  /** Within a write: false if other processes have taken this lease over; the listeners are then called. */
  isValid(): boolean;
  /** Whether the lease of a token is gone or has expired. */
  isExpired(token: string): boolean;
  /** Takes over from expired leases: their runs are queued again, and appends to their sessions are refused. */
  reapExpired(): Promise<void>;
  close(): Promise<void>;
};

/** A row of the table `presences`: `holder` is the owner as JSON, `beat` and `wall` are the last heartbeat since boot and by the clock. */
type LeaseRow = {
  readonly token: string;
  readonly holder: string;
  readonly beat: string;
  readonly wall: number;
  readonly lease: number;
};

/** Creates the lease of this process; `requeueRuns` is called within a write, with the token of an expired lease. */
export function createSqliteProcessLease(
  context: SqliteContext,
  leaseMs: number,
  requeueRuns: (token: string) => void,
): SqliteProcessLease {
  let token: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isSending = false;
  const { onLost, notifyLost } = createLeaseLossListeners(() => token);

  /** Also reaps: a store without workers must not collect expired leases. */
  function start(): string {
    reapAll();
    const owner = createLockOwner();
    token = owner.token;
    const sql = 'INSERT INTO presences (token, holder, beat, wall, lease) VALUES (?, ?, ?, ?, ?)';
    context.run(sql, token, JSON.stringify(owner), heartbeatNow(), Date.now(), leaseMs);
    timer ??= setInterval(() => void sendLeaseHeartbeat(), Math.max(10, leaseMs / 4)).unref();
    return token;
  }

  /** A heartbeat that updates no row is too late: this process was suspended, and others have taken over. */
  async function sendLeaseHeartbeat(): Promise<void> {
    const own = token;
    if (own === undefined || isSending || context.isClosed) return;
    isSending = true;
    try {
      const sql = 'UPDATE presences SET beat = ?, wall = ? WHERE token = ?';
      const change = (): boolean => context.run(sql, heartbeatNow(), Date.now(), own) > 0;
      if (!(await context.write(change, { durable: false }))) lose(own);
    } catch {
      // The next heartbeat may succeed; if none does, the lease expires.
    } finally {
      isSending = false;
    }
  }

  function lose(lost: string): void {
    if (token === lost) token = undefined;
    notifyLost(lost);
  }

  function reap(expired: string): void {
    if (context.run('DELETE FROM presences WHERE token = ?', expired) === 0) return;
    context.run('UPDATE sessions SET fence = fence + 1, holder = NULL, holder_name = NULL WHERE holder = ?', expired);
    requeueRuns(expired);
    context.notify('queue');
  }

  const isRowExpired = (row: LeaseRow): boolean => {
    const owner = parseLockOwner(row.holder);
    if (!owner) return true;
    return isOwnerAlive(owner) === false || msSinceHeartbeat({ ...owner, beat: row.beat }, row.wall) > row.lease;
  };
  const listExpired = (): readonly LeaseRow[] =>
    context.all<LeaseRow>('SELECT * FROM presences').filter((row) => row.token !== token && isRowExpired(row));
  const reapAll = (): void => {
    for (const row of listExpired()) reap(row.token);
  };

  const find = (name: string): LeaseRow | undefined =>
    context.one<LeaseRow>('SELECT * FROM presences WHERE token = ?', name);

  /** Whether the current lease is still in the store. If it is not, the listeners are called after the write. */
  function checkCurrent(): boolean {
    if (token === undefined || find(token)) return true;
    queueMicrotask(lose.bind(undefined, token));
    return false;
  }

  return {
    onLost,
    token: () => (token !== undefined && checkCurrent() ? token : start()),
    isValid: checkCurrent,
    isExpired(name) {
      const row = find(name);
      return !row || (name !== token && isRowExpired(row));
    },
    async reapExpired() {
      if (context.read(listExpired).length > 0) await context.write(reapAll);
    },
    async close() {
      clearInterval(timer);
      const own = token;
      token = undefined;
      if (own !== undefined && !context.isClosed) await context.write(() => reap(own));
    },
  };
}
