// The sessions of a SQLite store: taken by one writer at a time, read by any number.
import type { Log, SessionInfo, SessionStore } from '../../core/index.ts';
import { closedLog, fenced, locked, missing, readOnly } from '../session-trouble.ts';
import type { Base } from './base.ts';
import { appendTo, readerOf, type SessionRow } from './log.ts';
import type { Presence } from './presence.ts';

const usualMost = 100;

/** The sessions in a store. */
export function sessionsOf(base: Base, presence: Presence): SessionStore {
  const find = (session: string): (SessionRow & { readonly holder_name: string | null }) | undefined =>
    base.one('SELECT * FROM sessions WHERE session = ?', session);

  /** Takes or begins a session: from now on only who knows its new fence may add to it. */
  function take(session: string, name: string, force: boolean): SessionRow {
    // Who was given a run and slept since then was given nothing.
    if (force && !presence.isAwake()) throw fenced(session);
    const found = find(session);
    if (found?.holder && !force && !presence.isGone(found.holder)) throw locked(session, found.holder_name);
    const now = new Date().toISOString();
    if (!found) base.run('INSERT INTO sessions (session, begun, changed) VALUES (?, ?, ?)', session, now, now);
    base.run(
      'UPDATE sessions SET fence = fence + 1, holder = ?, holder_name = ? WHERE session = ?',
      presence.token(),
      name,
      session,
    );
    const row = find(session);
    if (!row) throw missing(session);
    return row;
  }

  function writerOf(row: SessionRow): Log {
    let closed: Promise<void> | undefined;
    const append = appendTo(base, row, row.fence);
    const release = 'UPDATE sessions SET holder = NULL, holder_name = NULL WHERE key = ? AND fence = ?';
    return {
      ...readerOf(base, row, () => closed !== undefined || base.isClosed),
      append: (...given) => (closed ? Promise.reject(closedLog(row.session)) : append(...given)),
      close() {
        closed ??= base.isClosed
          ? Promise.resolve()
          : base.write(() => void base.run(release, row.key, row.fence), { settle: false });
        base.watch.tell(`session ${row.key}`);
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
      if (!row) throw missing(session);
      let closed = false;
      return {
        ...readerOf(base, row, () => closed || base.isClosed),
        append: () => Promise.reject(readOnly(session)),
        async close() {
          closed = true;
          base.watch.tell(`session ${row.key}`);
        },
      };
    },
    async list({ most = usualMost, before } = {}) {
      return base.read(() => {
        const last = before === undefined ? undefined : base.one<ListRow>(`${listed} WHERE session = ?`, before);
        const rows = last
          ? base.all<ListRow>(`${listed} WHERE (changed, key) < (?, ?) ${order}`, last.changed, last.key, most)
          : base.all<ListRow>(`${listed} ${order}`, most);
        return rows.map((row) => entryOf(row, presence));
      });
    },
    async remove(session) {
      await base.write(() => {
        const row = find(session);
        if (!row) throw missing(session);
        if (row.holder && !presence.isGone(row.holder)) throw locked(session, row.holder_name);
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

const listed = 'SELECT key, session, name, begun, changed, seq, holder, holder_name FROM sessions';
const order = 'ORDER BY changed DESC, key DESC LIMIT ?';

function entryOf(row: ListRow, presence: Presence): SessionInfo {
  const { session, name, begun, changed, seq: events, holder, holder_name } = row;
  return {
    session,
    begun,
    changed,
    events,
    ...(name === null ? {} : { name }),
    ...(holder === null || holder_name === null || presence.isGone(holder) ? {} : { holder: holder_name }),
  };
}
