// Runs in SQLite rows: inserted, ended, woken and queued again. All functions but `findRun` must be called within a write.
import type { FleetRun, InboxMessage, NewRun, RunOutcome } from '../../core/index.ts';
import { formatInboxMessage } from '../inbox-row.ts';
import { storedWaitingStatus, toFleetRun, toNewRunRow, toOutcomeColumns, type RunRow } from '../run-row.ts';
import type { SqliteContext } from './context.ts';

/** The run with an id. */
export const findRun = (context: SqliteContext, id: string): RunRow | undefined =>
  context.one<RunRow>('SELECT * FROM runs WHERE id = ?', id);

/** Adds a run, or returns the run that has its id. */
export function addRun(context: SqliteContext, newRun: NewRun): FleetRun {
  const run = toNewRunRow(newRun);
  const now = Date.now();
  const row = context.one<RunRow>(
    `INSERT INTO runs (id, words, kind, settings, session, tenant, priority, parent, status, queued, due, later)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING *`,
    run.id,
    run.words,
    run.kind,
    run.settings,
    run.session,
    run.tenant,
    run.priority,
    run.parent,
    now,
    run.later ?? now,
    run.later,
  );
  context.notify('queue');
  return toFleetRun(row ?? (findRun(context, run.id) as RunRow));
}

/** Ends a run, and sends a message to the run that waits for it. */
export function endRun(context: SqliteContext, row: RunRow, result: RunOutcome): void {
  const { outcome, reason, usd, tokens } = toOutcomeColumns(result);
  context.run(
    `UPDATE runs SET status = 'ended', ended = ?, holder = NULL, questions = NULL, outcome = ?, reason = ?, usd = ?, tokens = ?
     WHERE key = ?`,
    Date.now(),
    outcome,
    reason,
    usd,
    tokens,
    row.key,
  );
  context.notify('queue');
  const parent = row.parent === null ? undefined : findRun(context, row.parent);
  if (!parent || parent.status === 'ended') return;
  insertMessage(context, parent.session, { type: 'ended', run: row.id });
  wakeRun(context, parent.id);
}

/** Queues a waiting run again. A running one is queued again when it waits, so that no message to it is missed. */
export function wakeRun(context: SqliteContext, id: string): void {
  const row = findRun(context, id);
  if (row?.status === storedWaitingStatus) requeueRun(context, row.key, Date.now());
  if (row?.status === 'running') context.run('UPDATE runs SET woken = 1 WHERE key = ?', row.key);
}

/** Queues a run again, to be claimed from a time on. */
export function requeueRun(context: SqliteContext, key: number, due: number): void {
  context.run(
    `UPDATE runs SET status = 'queued', due = max(?, coalesce(later, 0)), holder = NULL, questions = NULL WHERE key = ?`,
    due,
    key,
  );
  context.notify('queue');
}

/** Adds a message to the inbox of a session, and returns its position. */
export function insertMessage(context: SqliteContext, session: string, message: InboxMessage): number {
  const sql = 'INSERT INTO letters (session, time, letter) VALUES (?, ?, ?) RETURNING place AS position';
  const row = context.one<{ position: number }>(sql, session, Date.now(), formatInboxMessage(message));
  context.notify('inbox');
  return row?.position ?? 0;
}
