// Who lives: each process that holds sessions or runs gives signs of life; what a dead or silent one held is taken from it.
import { heartbeatNow, parseLockOwner, isOwnerAlive, createLockOwner, msSinceHeartbeat } from '../lock-owner.ts';
import type { SqliteContext } from './context.ts';

/** This process as a holder of sessions and runs. */
export type SqliteProcessLease = {
  /** Within a change: the name under which this process holds things now. */
  token(): string;
  /** Within a change: false where others have taken what this process held and it had not learnt of it; it does by this. */
  isValid(): boolean;
  /** Calls back, once, when others have taken what was held under a name. */
  onLost(token: string, told: () => void): () => void;
  /** Whether a holder is gone. */
  isExpired(token: string): boolean;
  /** Takes what the gone held: their runs go back into the queue, their sessions' next appends are refused. */
  reapExpired(): Promise<void>;
  close(): Promise<void>;
};

/** What is done with the runs of a holder that is gone, within a change. */
export type RequeueRuns = (token: string) => void;

type LeaseRow = {
  readonly token: string;
  readonly holder: string;
  readonly beat: string;
  readonly wall: number;
  readonly lease: number;
};

/** The presence of this process in a store. */
export function createSqliteProcessLease(
  base: SqliteContext,
  leaseMs: number,
  buryRuns: RequeueRuns,
): SqliteProcessLease {
  const watchers = new Set<{ readonly token: string; readonly told: () => void }>();
  let token: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let beating = false;

  /** Whoever comes in also tidies up: the dead are not to pile up where nobody works. */
  function enter(): string {
    buryAll();
    const holder = createLockOwner();
    token = holder.token;
    base.run(
      'INSERT INTO presences (token, holder, beat, wall, lease) VALUES (?, ?, ?, ?, ?)',
      token,
      JSON.stringify(holder),
      heartbeatNow(),
      Date.now(),
      leaseMs,
    );
    timer ??= setInterval(() => void beat(), Math.max(10, leaseMs / 4)).unref();
    return token;
  }

  /** A beat that reaches no row comes too late: this process slept, and others have taken what it held. */
  async function beat(): Promise<void> {
    const mine = token;
    if (mine === undefined || beating || base.isClosed) return;
    beating = true;
    try {
      const sql = 'UPDATE presences SET beat = ?, wall = ? WHERE token = ?';
      const alive = await base.write(() => base.run(sql, heartbeatNow(), Date.now(), mine) > 0, { settle: false });
      if (!alive) lose(mine);
    } catch {
      // The next beat may come through; if none does, the silence is true.
    } finally {
      beating = false;
    }
  }

  function lose(gone: string): void {
    if (token === gone) token = undefined;
    for (const watcher of watchers) {
      if (watcher.token !== gone) continue;
      watchers.delete(watcher);
      watcher.told();
    }
  }

  function bury(gone: string): void {
    if (base.run('DELETE FROM presences WHERE token = ?', gone) === 0) return;
    base.run('UPDATE sessions SET fence = fence + 1, holder = NULL, holder_name = NULL WHERE holder = ?', gone);
    buryRuns(gone);
    base.notify('queue');
  }

  function buryAll(): void {
    for (const row of gone()) bury(row.token);
  }

  const rows = (): readonly LeaseRow[] => base.all<LeaseRow>('SELECT * FROM presences');
  const isSilent = (row: LeaseRow): boolean => {
    const holder = parseLockOwner(row.holder);
    if (!holder) return true;
    return isOwnerAlive(holder) === false || msSinceHeartbeat({ ...holder, beat: row.beat }, row.wall) > row.lease;
  };
  const gone = (): readonly LeaseRow[] => rows().filter((row) => row.token !== token && isSilent(row));

  const isThere = (name: string): boolean => base.one('SELECT 1 FROM presences WHERE token = ?', name) !== undefined;

  return {
    token() {
      if (token !== undefined && isThere(token)) return token;
      if (token !== undefined) queueMicrotask(lose.bind(undefined, token));
      return enter();
    },
    isValid() {
      if (token === undefined || isThere(token)) return true;
      queueMicrotask(lose.bind(undefined, token));
      return false;
    },
    onLost(name, told) {
      const watcher = { token: name, told };
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    isExpired(name) {
      const row = base.one<LeaseRow>('SELECT * FROM presences WHERE token = ?', name);
      return !row || (name !== token && isSilent(row));
    },
    async reapExpired() {
      if (base.read(gone).length === 0) return;
      await base.write(buryAll);
    },
    async close() {
      clearInterval(timer);
      const mine = token;
      token = undefined;
      if (mine !== undefined && !base.isClosed) await base.write(() => bury(mine));
    },
  };
}
