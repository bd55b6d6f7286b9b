// Sessions of a SQLite store: one writer at a time, any number of readers.
import type { FleetSessionStore, SessionInfo } from '../../core/index.ts';
import { defaultListLimit } from '../defaults.ts';
import { createReaderLog, createWriterLog, type SessionLogParts, type SessionRow } from '../session-log.ts';
import { fencedError, lockedError, otherTenantError, sessionNotFoundError } from '../store-errors.ts';
import type { SqliteContext } from './context.ts';
import { createSqliteAppender, createSqliteLogReader } from './log.ts';
import type { SqliteProcessLease } from './process-lease.ts';

type HeldSessionRow = SessionRow & { readonly holder: string | null; readonly holder_name: string | null } & {
  readonly tenant: string | null;
};

const releaseSql = 'UPDATE sessions SET holder = NULL, holder_name = NULL WHERE key = ? AND fence = ?';

/** The sessions of a store. */
export function createSqliteSessions(context: SqliteContext, lease: SqliteProcessLease): FleetSessionStore {
  const find = (session: string): HeldSessionRow | undefined =>
    context.one('SELECT * FROM sessions WHERE session = ?', session);

  function mustFind(session: string): HeldSessionRow {
    const row = find(session);
    if (!row) throw sessionNotFoundError(session);
    return row;
  }

  function assertNotHeld({ session, holder, holder_name }: HeldSessionRow): void {
    if (holder && !lease.isExpired(holder)) throw lockedError(`Session ${session}`, holder_name ?? undefined);
  }

  /** Opens or creates a session for writing: from now on only an append with the new fence is accepted. */
  function acquire(session: string, name: string, force: boolean, tenant: string | null): SessionRow {
    // A worker whose lease has expired has lost the run for which it forces the session open.
    if (force && !lease.isValid()) throw fencedError(`Session ${session}`);
    const found = find(session);
    if (found && tenant !== null && (found.tenant ?? tenant) !== tenant) throw otherTenantError(session);
    if (found && !force) assertNotHeld(found);
    const now = new Date().toISOString();
    const insertSql = 'INSERT INTO sessions (session, begun, changed, tenant) VALUES (?, ?, ?, ?)';
    if (!found) context.run(insertSql, session, now, now, tenant);
    const sql = 'UPDATE sessions SET fence = fence + 1, holder = ?, holder_name = ? WHERE session = ?';
    context.run(sql, lease.token(), name, session);
    return mustFind(session);
  }

  const toParts = (row: SessionRow): SessionLogParts => ({
    session: row.session,
    createReader: (isClosed) => createSqliteLogReader(context, row, isClosed),
    notify: () => context.waiters.notify(`session ${row.key}`),
  });

  return {
    async open(session, { holder = `process ${process.pid}`, force = false, tenant = null } = {}) {
      // Not durable: after a power cut no process holds a session.
      const row = await context.write(() => acquire(session, holder, force, tenant), { durable: false });
      return createWriterLog(toParts(row), createSqliteAppender(context, row), async () => {
        if (context.isClosed) return;
        await context.write(() => context.run(releaseSql, row.key, row.fence), { durable: false });
      });
    },
    async reader(session) {
      return createReaderLog(toParts(context.read(() => mustFind(session))));
    },
    async find(session) {
      const row = context.read(() => context.one<ListRow>(`${listColumnsSql} WHERE session = ?`, session));
      return row && toSessionInfo(row, lease);
    },
    async list({ limit = defaultListLimit, before, tenant } = {}) {
      return context.read(() => {
        const last =
          before === undefined ? undefined : context.one<ListRow>(`${listColumnsSql} WHERE session = ?`, before);
        const conditions = [
          ...(last ? [{ sql: '(changed, key) < (?, ?)', values: [last.changed, last.key] }] : []),
          ...(tenant === undefined ? [] : [{ sql: 'tenant = ?', values: [tenant] }]),
        ];
        const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
        const values = conditions.flatMap((each) => each.values);
        const rows = context.all<ListRow>(`${listColumnsSql} ${where} ${listOrderSql}`, ...values, limit);
        return rows.map((row) => toSessionInfo(row, lease));
      });
    },
    async remove(session) {
      await context.write(() => {
        const row = mustFind(session);
        assertNotHeld(row);
        context.run('DELETE FROM events WHERE session = ?', row.key);
        context.run('DELETE FROM letters WHERE session = ?', session);
        context.run('DELETE FROM sessions WHERE key = ?', row.key);
      });
    },
  };
}

type ListRow = {
  readonly key: number;
  readonly session: string;
  readonly name: string | null;
  readonly begun: string;
  readonly changed: string;
  readonly seq: number;
  readonly holder: string | null;
  readonly holder_name: string | null;
  readonly tenant: string | null;
};

const listColumnsSql = 'SELECT key, session, name, begun, changed, seq, holder, holder_name, tenant FROM sessions';
const listOrderSql = 'ORDER BY changed DESC, key DESC LIMIT ?';

function toSessionInfo(row: ListRow, lease: SqliteProcessLease): SessionInfo {
  const { session, name, begun: createdAt, changed: updatedAt, seq: events, holder, holder_name, tenant } = row;
  return {
    session,
    createdAt,
    updatedAt,
    events,
    ...(name === null ? {} : { name }),
    ...(tenant === null ? {} : { tenant }),
    ...(holder === null || holder_name === null || lease.isExpired(holder) ? {} : { holder: holder_name }),
  };
}
