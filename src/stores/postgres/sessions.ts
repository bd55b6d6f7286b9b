// Sessions of a PostgreSQL store: one writer at a time, any number of readers.
import { randomUUID } from 'node:crypto';
import type { FleetSessionStore, SessionInfo } from '../../core/index.ts';
import { defaultListLimit } from '../defaults.ts';
import { createReaderLog, createWriterLog, type SessionRow } from '../session-log.ts';
import { fencedError, lockedError, otherTenantError, sessionNotFoundError } from '../store-errors.ts';
import { createPostgresAppender, createAppendBatcher } from './append.ts';
import type { PostgresContext } from './context.ts';
import { createBatcher } from './batcher.ts';
import { createPostgresLogReader } from './log.ts';
import { isExpiredSql, type PostgresProcessLease } from './process-lease.ts';

/**
 * Opens or creates sessions for writing: from now on only an append with the new fence is accepted. Sent twice with the same `opening`, it
 * counts once. If a crash of the server loses it, appends with the new fence are refused.
 */
const openSessionsSql = `
WITH requests AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[])
    AS request (session, now, token, name, opening, force, tenant)
), own_lease AS (SELECT token FROM fairlead.presences WHERE token = ANY ($3) FOR KEY SHARE)
INSERT INTO fairlead.sessions AS old (session, begun, changed, fence, holder, holder_name, opening, tenant)
SELECT session, now, now, 1, token, name, opening, tenant
FROM requests JOIN own_lease USING (token), set_config('synchronous_commit', 'off', true) ORDER BY session
ON CONFLICT (session) DO UPDATE SET fence = old.fence + (old.opening IS DISTINCT FROM excluded.opening)::integer,
  holder = excluded.holder, holder_name = excluded.holder_name, opening = excluded.opening
WHERE (old.tenant IS NULL OR excluded.tenant IS NULL OR old.tenant = excluded.tenant) AND (
  old.holder IS NULL OR old.opening = excluded.opening
  OR EXISTS (SELECT 1 FROM requests WHERE requests.opening = excluded.opening AND requests.force)
  OR NOT EXISTS (SELECT 1 FROM fairlead.presences WHERE token = old.holder AND NOT ${isExpiredSql}))
RETURNING key, session, seq, head, fence, opening`;

const releaseSql = `
UPDATE fairlead.sessions SET holder = NULL, holder_name = NULL
FROM unnest($1::bigint[], $2::bigint[]) AS writer (key, fence), set_config('synchronous_commit', 'off', true)
WHERE sessions.key = writer.key AND sessions.fence = writer.fence`;

const liveHolderSql = `CASE WHEN EXISTS (SELECT 1 FROM fairlead.presences WHERE token = sessions.holder AND NOT ${isExpiredSql}) THEN holder_name END`;
const listColumnsSql = `SELECT session, name, begun AS "createdAt", changed AS "updatedAt", seq AS events, ${liveHolderSql} AS holder, tenant FROM fairlead.sessions`;

const listSql = `${listColumnsSql}
WHERE ($1::text IS NULL OR (changed, key) < (SELECT changed, key FROM fairlead.sessions WHERE session = $1))
  AND ($3::text IS NULL OR tenant = $3)
ORDER BY changed DESC, key DESC LIMIT $2`;

const removeSql = `
WITH deleted AS (
  DELETE FROM fairlead.sessions WHERE session = $1
    AND (holder IS NULL OR NOT EXISTS (SELECT 1 FROM fairlead.presences WHERE token = sessions.holder AND NOT ${isExpiredSql})) RETURNING key
), deleted_events AS (DELETE FROM fairlead.events USING deleted WHERE session = deleted.key),
deleted_messages AS (DELETE FROM fairlead.letters WHERE session = $1 AND EXISTS (SELECT 1 FROM deleted))
SELECT key FROM deleted`;

type SessionOpenRequest = {
  readonly session: string;
  readonly now: string;
  readonly token: string;
  readonly name: string;
  readonly opening: string;
  readonly force: boolean;
  readonly tenant: string | null;
};

type SessionHolderRow = {
  readonly key: number;
  readonly holder: string | null;
  readonly holder_name: string | null;
  readonly tenant: string | null;
};

type ListedSessionRow = { readonly [Key in keyof SessionInfo]: SessionInfo[Key] | null };

const toSessionInfo = (row: ListedSessionRow): SessionInfo =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as SessionInfo;

/** The sessions of a store. */
export function createPostgresSessions(context: PostgresContext, lease: PostgresProcessLease): FleetSessionStore {
  const { db } = context;
  const find = (session: string): Promise<SessionHolderRow | undefined> =>
    db.one<SessionHolderRow>('SELECT key, holder, holder_name, tenant FROM fairlead.sessions WHERE session = $1', [
      session,
    ]);

  const sendAppend = createAppendBatcher(context);
  const sendOpen = createBatcher(async (requests: readonly SessionOpenRequest[]) => {
    const rows = await db.all<SessionRow & { readonly opening: string }>(openSessionsSql, [
      requests.map(({ session }) => session),
      requests.map(({ now }) => now),
      requests.map(({ token }) => token),
      requests.map(({ name }) => name),
      requests.map(({ opening }) => opening),
      requests.map(({ force }) => force),
      requests.map(({ tenant }) => tenant),
    ]);
    return requests.map(({ opening }) => rows.find((row) => row.opening === opening));
  });
  const sendRelease = createBatcher(async (rows: readonly SessionRow[]) => {
    if (!db.isClosed) await db.all(releaseSql, [rows.map(({ key }) => key), rows.map(({ fence }) => fence)]);
    return rows.map(() => undefined);
  });

  async function acquire(session: string, name: string, force: boolean, tenant: string | null): Promise<SessionRow> {
    const request = { session, name, force, tenant, opening: randomUUID(), now: new Date().toISOString() };
    const attempt = async (): Promise<SessionRow | undefined> => sendOpen({ ...request, token: await lease.token() });
    const row = await attempt();
    if (row) return row;
    // A worker whose lease has expired has lost the run for which it forces the session open.
    if (!(await lease.isValid()) && force) throw fencedError(`Session ${session}`);
    // If the holder ended on this machine, there is no need to wait until its lease expires.
    const found = await find(session);
    if (found && tenant !== null && (found.tenant ?? tenant) !== tenant) throw otherTenantError(session);
    if (found?.holder) await lease.reapExpired(found.holder);
    const again = await attempt();
    if (!again) throw lockedError(`Session ${session}`, found?.holder_name ?? undefined);
    return again;
  }

  return {
    async open(session, { holder = `process ${process.pid}`, force = false, tenant = null } = {}) {
      const row = await acquire(session, holder, force, tenant);
      const { append, lastSeq } = createPostgresAppender(context, sendAppend, row);
      const parts = {
        session,
        createReader: (isClosed: () => boolean) => createPostgresLogReader(context, row, isClosed, lastSeq),
        notify: () => context.notifyLocal(`session ${row.key}`),
      };
      return createWriterLog(parts, append, () => sendRelease(row));
    },
    async reader(session) {
      const row = await find(session);
      if (!row) throw sessionNotFoundError(session);
      return createReaderLog({
        session,
        createReader: (isClosed) => createPostgresLogReader(context, { key: row.key, session }, isClosed),
        notify: () => context.notifyLocal(`session ${row.key}`),
      });
    },
    async find(session) {
      const row = await db.one<ListedSessionRow>(`${listColumnsSql} WHERE session = $1`, [session]);
      return row && toSessionInfo(row);
    },
    async list({ limit = defaultListLimit, before, tenant } = {}) {
      const rows = await db.all<ListedSessionRow>(listSql, [before ?? null, limit, tenant ?? null]);
      return rows.map(toSessionInfo);
    },
    async remove(session) {
      if (await db.one(removeSql, [session])) return;
      const found = await find(session);
      if (!found) throw sessionNotFoundError(session);
      if (found.holder) await lease.reapExpired(found.holder);
      if (!(await db.one(removeSql, [session])))
        throw lockedError(`Session ${session}`, found.holder_name ?? undefined);
    },
  };
}
