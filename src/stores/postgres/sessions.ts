// The sessions of a PostgreSQL store: taken by one writer at a time, read by any number.
import { randomUUID } from 'node:crypto';
import type { Log, SessionInfo, SessionStore } from '../../core/index.ts';
import {
  logClosedError,
  sessionFencedError,
  sessionLockedError,
  sessionNotFoundError,
  sessionReadOnlyError,
} from '../session-errors.ts';
import { createPostgresAppender, createAppendBatcher } from './append.ts';
import type { PostgresContext } from './context.ts';
import { createBatcher } from './batcher.ts';
import { createPostgresLogReader, type SessionRow } from './log.ts';
import { isExpiredSql, type PostgresProcessLease } from './process-lease.ts';

const defaultListLimit = 100;

/**
 * Takes or begins a session: from now on only who knows its new fence may add to it. Sent twice for the same opening, it takes it once.
 * Where a crash of the server forgets it, the appends under the new fence are refused.
 */
const openSessionsSql = `
WITH given AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[])
    AS taking (session, now, token, name, opening, force)
), me AS (SELECT token FROM fairlead.presences WHERE token = ANY ($3) FOR KEY SHARE)
INSERT INTO fairlead.sessions AS old (session, begun, changed, fence, holder, holder_name, opening)
SELECT session, now, now, 1, token, name, opening
FROM given JOIN me USING (token), set_config('synchronous_commit', 'off', true) ORDER BY session
ON CONFLICT (session) DO UPDATE SET fence = old.fence + (old.opening IS DISTINCT FROM excluded.opening)::integer,
  holder = excluded.holder, holder_name = excluded.holder_name, opening = excluded.opening
WHERE old.holder IS NULL OR old.opening = excluded.opening
  OR EXISTS (SELECT 1 FROM given WHERE given.opening = excluded.opening AND given.force)
  OR NOT EXISTS (SELECT 1 FROM fairlead.presences WHERE token = old.holder AND NOT ${isExpiredSql})
RETURNING key, session, seq, head, fence, opening`;

const releaseSql = `
UPDATE fairlead.sessions SET holder = NULL, holder_name = NULL
FROM unnest($1::bigint[], $2::bigint[]) AS held (key, fence), set_config('synchronous_commit', 'off', true)
WHERE sessions.key = held.key AND sessions.fence = held.fence`;

const liveHolderSql = `CASE WHEN EXISTS (SELECT 1 FROM fairlead.presences WHERE token = sessions.holder AND NOT ${isExpiredSql}) THEN holder_name END`;
const listColumnsSql = `SELECT session, name, begun, changed, seq AS events, ${liveHolderSql} AS holder FROM fairlead.sessions`;

const listSql = `${listColumnsSql}
WHERE $1::text IS NULL OR (changed, key) < (SELECT changed, key FROM fairlead.sessions WHERE session = $1)
ORDER BY changed DESC, key DESC LIMIT $2`;

const removeSql = `
WITH gone AS (
  DELETE FROM fairlead.sessions WHERE session = $1
    AND (holder IS NULL OR NOT EXISTS (SELECT 1 FROM fairlead.presences WHERE token = sessions.holder AND NOT ${isExpiredSql})) RETURNING key
), emptied AS (DELETE FROM fairlead.events USING gone WHERE session = gone.key),
unread AS (DELETE FROM fairlead.letters WHERE session = $1 AND EXISTS (SELECT 1 FROM gone))
SELECT key FROM gone`;

type SessionOpenRequest = {
  readonly session: string;
  readonly now: string;
  readonly token: string;
  readonly name: string;
  readonly opening: string;
  readonly force: boolean;
};

type SessionHolderRow = { readonly key: number; readonly holder: string | null; readonly holder_name: string | null };

/** The sessions in a store. */
export function createPostgresSessions(base: PostgresContext, presence: PostgresProcessLease): SessionStore {
  const { db } = base;
  const find = (session: string): Promise<SessionHolderRow | undefined> =>
    db.one<SessionHolderRow>('SELECT key, holder, holder_name FROM fairlead.sessions WHERE session = $1', [session]);

  const append = createAppendBatcher(base);
  const send = createBatcher(async (takings: readonly SessionOpenRequest[]) => {
    const rows = await db.all<SessionRow & { readonly opening: string }>(openSessionsSql, [
      takings.map(({ session }) => session),
      takings.map(({ now }) => now),
      takings.map(({ token }) => token),
      takings.map(({ name }) => name),
      takings.map(({ opening }) => opening),
      takings.map(({ force }) => force),
    ]);
    return takings.map(({ opening }) => rows.find((row) => row.opening === opening));
  });
  const release = createBatcher(async (rows: readonly SessionRow[]) => {
    if (!db.isClosed) await db.all(releaseSql, [rows.map(({ key }) => key), rows.map(({ fence }) => fence)]);
    return rows.map(() => undefined);
  });

  async function take(session: string, name: string, force: boolean): Promise<SessionRow> {
    const taking = { session, name, force, opening: randomUUID(), now: new Date().toISOString() };
    const attempt = async (): Promise<SessionRow | undefined> => send({ ...taking, token: await presence.token() });
    const row = await attempt();
    if (row) return row;
    // Who was given a run and slept since then was given nothing.
    if (!(await presence.isValid()) && force) throw sessionFencedError(session);
    // Its holder may have died on this machine, which need not be waited for.
    const found = await find(session);
    if (found?.holder) await presence.reapExpired(found.holder);
    const again = await attempt();
    if (!again) throw sessionLockedError(session, found?.holder_name ?? null);
    return again;
  }

  function writerOf(row: SessionRow): Log {
    let closed: Promise<void> | undefined;
    const { append: add, tail } = createPostgresAppender(base, append, row);
    return {
      ...createPostgresLogReader(base, row, () => closed !== undefined || db.isClosed, tail),
      append: (...given) => (closed ? Promise.reject(logClosedError(row.session)) : add(...given)),
      close() {
        closed ??= release(row);
        base.notifyLocal(`session ${row.key}`);
        return closed;
      },
    };
  }

  return {
    async open(session, { holder = `process ${process.pid}`, force = false } = {}) {
      return writerOf(await take(session, holder, force));
    },
    async reader(session) {
      const row = await find(session);
      if (!row) throw sessionNotFoundError(session);
      let closed = false;
      return {
        ...createPostgresLogReader(base, { key: row.key, session }, () => closed || db.isClosed),
        append: () => Promise.reject(sessionReadOnlyError(session)),
        async close() {
          closed = true;
          base.notifyLocal(`session ${row.key}`);
        },
      };
    },
    async list({ most = defaultListLimit, before } = {}) {
      const rows = await db.all<{ readonly [Key in keyof SessionInfo]: SessionInfo[Key] | null }>(listSql, [
        before ?? null,
        most,
      ]);
      return rows.map(
        (row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as SessionInfo,
      );
    },
    async remove(session) {
      if (await db.one(removeSql, [session])) return;
      const found = await find(session);
      if (!found) throw sessionNotFoundError(session);
      if (found.holder) await presence.reapExpired(found.holder);
      if (!(await db.one(removeSql, [session]))) throw sessionLockedError(session, found.holder_name);
    },
  };
}
