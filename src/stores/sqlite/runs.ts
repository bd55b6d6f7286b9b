// The rows of the queue: a run as the database keeps it, and the ways it may end, rest, wake or go back.
import { randomUUID } from 'node:crypto';
import type { FleetRun, InboxMessage, NewRun, RunOutcome } from '../../core/index.ts';
import { toFleetRun, type RunRow } from '../run-row.ts';
import type { SqliteContext } from './context.ts';

/** The run of an id. */
export const findRun = (base: SqliteContext, id: string): RunRow | undefined =>
  base.one<RunRow>('SELECT * FROM runs WHERE id = ?', id);

/** Within a change: adds a run, or gives back the one that has its id. */
export function addRun(base: SqliteContext, run: NewRun): FleetRun {
  const id = run.id ?? randomUUID();
  const now = Date.now();
  const later = run.notBefore === undefined ? null : Date.parse(run.notBefore);
  const row = base.one<RunRow>(
    `INSERT INTO runs (id, words, kind, settings, session, tenant, priority, parent, status, queued, due, later)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING *`,
    id,
    run.words,
    run.kind ?? 'run',
    JSON.stringify(run.settings ?? {}),
    run.session ?? id,
    run.tenant ?? 'default',
    run.priority ?? 0,
    run.parent ?? null,
    now,
    later ?? now,
    later,
  );
  base.notify('queue');
  return toFleetRun(row ?? (findRun(base, id) as RunRow));
}

/** Within a change: ends a run, and tells the run that waits for it. */
export function endRun(base: SqliteContext, row: RunRow, outcome: RunOutcome): void {
  const { reason, spent } = outcome;
  base.run(
    `UPDATE runs SET status = 'ended', ended = ?, holder = NULL, questions = NULL, outcome = ?, reason = ?, usd = ?, tokens = ?
     WHERE key = ?`,
    Date.now(),
    JSON.stringify(outcome),
    reason,
    spent.usd,
    Math.round(spent.input + spent.output),
    row.key,
  );
  base.notify('queue');
  const parent = row.parent === null ? undefined : findRun(base, row.parent);
  if (!parent || parent.status === 'ended') return;
  insertMessage(base, parent.session, { type: 'ended', run: row.id });
  wakeRun(base, parent.id);
}

/** Within a change: puts a resting run back; one that is under way goes back once it rests, so that no call to it is lost. */
export function wakeRun(base: SqliteContext, id: string): void {
  const row = findRun(base, id);
  if (row?.status === 'resting') requeueRun(base, row.key, Date.now());
  if (row?.status === 'running') base.run('UPDATE runs SET woken = 1 WHERE key = ?', row.key);
}

/** Within a change: a run goes back into the queue, to be taken from a time on. */
export function requeueRun(base: SqliteContext, key: number, due: number): void {
  base.run(
    `UPDATE runs SET status = 'queued', due = max(?, coalesce(later, 0)), holder = NULL, questions = NULL WHERE key = ?`,
    due,
    key,
  );
  base.notify('queue');
}

/** Within a change: adds a letter to a session's, and gives its place. */
export function insertMessage(base: SqliteContext, session: string, letter: InboxMessage): number {
  const sql = 'INSERT INTO letters (session, time, letter) VALUES (?, ?, ?) RETURNING place';
  const row = base.one<{ place: number }>(sql, session, Date.now(), JSON.stringify(letter));
  base.notify('letters');
  return row?.place ?? 0;
}
