// The sessions of a SQLite store: taken by one writer at a time, read by any number.
import type { Log, SessionInfo, SessionStore } from '../../core/index.ts';
import {
  logClosedError,
  sessionFencedError,
  sessionLockedError,
  sessionNotFoundError,
  sessionReadOnlyError,
} from '../session-errors.ts';
import type { SqliteContext } from './context.ts';
import { createSqliteAppender, createSqliteLogReader, type SessionRow } from './log.ts';
import type { SqliteProcessLease } from './process-lease.ts';

const defaultListLimit = 100;

/** The sessions in a store. */
export function createSqliteSessions(base: SqliteContext, presence: SqliteProcessLease): SessionStore {
  const find = (session: string): (SessionRow & { readonly holder_name: string | null }) | undefined =>
    base.one('SELECT * FROM sessions WHERE session = ?', session);

  /** Takes or begins a session: from now on only who knows its new fence may add to it. */
  function take(session: string, name: string, force: boolean): SessionRow {
    // Who was given a run and slept since then was given nothing.
    if (force && !presence.isValid()) throw sessionFencedError(session);
    const found = find(session);
    if (found?.holder && !force && !presence.isExpired(found.holder))
      throw sessionLockedError(session, found.holder_name);
    const now = new Date().toISOString();
    if (!found) base.run('INSERT INTO sessions (session, begun, changed) VALUES (?, ?, ?)', session, now, now);
    base.run(
      'UPDATE sessions SET fence = fence + 1, holder = ?, holder_name = ? WHERE session = ?',
      presence.token(),
      name,
      session,
    );
    const row = find(session);
    if (!row) throw sessionNotFoundError(session);
    return row;
  }

  function writerOf(row: SessionRow): Log {
    let closed: Promise<void> | undefined;
    const append = createSqliteAppender(base, row, row.fence);
    const release = 'UPDATE sessions SET holder = NULL, holder_name = NULL WHERE key = ? AND fence = ?';
    return {
      ...createSqliteLogReader(base, row, () => closed !== undefined || base.isClosed),
      append: (...given) => (closed ? Promise.reject(logClosedError(row.session)) : append(...given)),
      close() {
        closed ??= base.isClosed
          ? Promise.resolve()
          : base.write(() => void base.run(release, row.key, row.fence), { settle: false });
        base.waiters.notify(`session ${row.key}`);
        return closed;
      },
    };
  }

  return {
    async open(session, { holder = `process ${process.pid}`, force = false } = {}) {
      // After a power cut nobody holds anything: who holds what need not outlive one.
      return writerOf(await base.write(() => take(session, holder, force), { settle: false }));
    },
    async reader(session) {
      const row = base.read(() => find(session));
      if (!row) throw sessionNotFoundError(session);
      let closed = false;
      return {
        ...createSqliteLogReader(base, row, () => closed || base.isClosed),
        append: () => Promise.reject(sessionReadOnlyError(session)),
        async close() {
          closed = true;
          base.waiters.notify(`session ${row.key}`);
        },
      };
    },
    async list({ most = defaultListLimit, before } = {}) {
      return base.read(() => {
        const last =
          before === undefined ? undefined : base.one<ListRow>(`${listColumnsSql} WHERE session = ?`, before);
        const rows = last
          ? base.all<ListRow>(
              `${listColumnsSql} WHERE (changed, key) < (?, ?) ${listOrderSql}`,
              last.changed,
              last.key,
              most,
            )
          : base.all<ListRow>(`${listColumnsSql} ${listOrderSql}`, most);
        return rows.map((row) => toSessionEntry(row, presence));
      });
    },
    async remove(session) {
      await base.write(() => {
        const row = find(session);
        if (!row) throw sessionNotFoundError(session);
        if (row.holder && !presence.isExpired(row.holder)) throw sessionLockedError(session, row.holder_name);
        base.run('DELETE FROM events WHERE session = ?', row.key);
        base.run('DELETE FROM letters WHERE session = ?', session);
        base.run('DELETE FROM sessions WHERE key = ?', row.key);
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
};

const listColumnsSql = 'SELECT key, session, name, begun, changed, seq, holder, holder_name FROM sessions';
const listOrderSql = 'ORDER BY changed DESC, key DESC LIMIT ?';

function toSessionEntry(row: ListRow, presence: SqliteProcessLease): SessionInfo {
  const { session, name, begun, changed, seq: events, holder, holder_name } = row;
  return {
    session,
    begun,
    changed,
    events,
    ...(name === null ? {} : { name }),
    ...(holder === null || holder_name === null || presence.isExpired(holder) ? {} : { holder: holder_name }),
  };
}
