// The rows of the queue: a run as the database keeps it, and the ways it may end, rest, wake or go back.
import { randomUUID } from 'node:crypto';
import {
  FairleadError,
  type FleetRun,
  type JsonObject,
  type Letter,
  type NewRun,
  type Question,
  type RunOutcome,
  type RunStatus,
} from '../../core/index.ts';
import type { Base } from './base.ts';

/** A run as its row says; times are in milliseconds. */
export type RunRow = {
  readonly key: number;
  readonly id: string;
  readonly words: string;
  readonly kind: string;
  readonly settings: string;
  readonly session: string;
  readonly tenant: string;
  readonly priority: number;
  readonly parent: string | null;
  readonly status: RunStatus;
  readonly attempts: number;
  readonly failures: number;
  readonly woken: number;
  readonly queued: number;
  readonly due: number;
  readonly later: number | null;
  readonly started: number | null;
  readonly ended: number | null;
  readonly worker: string | null;
  readonly holder: string | null;
  readonly version: string | null;
  readonly questions: string | null;
  readonly outcome: string | null;
};

const iso = (ms: number): string => new Date(ms).toISOString();

/** A run as others see it. */
export function runOf(row: RunRow): FleetRun {
  const { id, words, kind, session, tenant, priority, status, attempts } = row;
  return {
    id,
    words,
    kind,
    settings: JSON.parse(row.settings) as JsonObject,
    session,
    tenant,
    priority,
    status,
    attempts,
    queued: iso(row.queued),
    questions: row.questions === null ? [] : (JSON.parse(row.questions) as readonly Question[]),
    ...(row.parent === null ? {} : { parent: row.parent }),
    ...(row.started === null ? {} : { started: iso(row.started) }),
    ...(row.ended === null ? {} : { ended: iso(row.ended) }),
    ...(row.later === null ? {} : { notBefore: iso(row.later) }),
    ...(row.worker === null ? {} : { worker: row.worker }),
    ...(row.version === null ? {} : { version: row.version }),
    ...(row.outcome === null ? {} : { outcome: JSON.parse(row.outcome) as RunOutcome }),
  };
}

/** The run of an id. */
export const findRun = (base: Base, id: string): RunRow | undefined =>
  base.one<RunRow>('SELECT * FROM runs WHERE id = ?', id);

/** A time that is none must not reach the rows. */
export function refuseBadTime({ notBefore }: NewRun): void {
  if (notBefore === undefined || !Number.isNaN(Date.parse(notBefore))) return;
  throw new FairleadError('queue/bad-time', `"${notBefore}" is not a time.`, {
    blame: 'user',
    hint: 'Write it as 2030-01-31T08:00:00Z.',
  });
}

/** Within a change: adds a run, or gives back the one that has its id. */
export function addRun(base: Base, run: NewRun): FleetRun {
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
  base.touch('queue');
  return runOf(row ?? (findRun(base, id) as RunRow));
}

/** Within a change: ends a run, and tells the run that waits for it. */
export function endRun(base: Base, row: RunRow, outcome: RunOutcome): void {
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
  base.touch('queue');
  const parent = row.parent === null ? undefined : findRun(base, row.parent);
  if (!parent || parent.status === 'ended') return;
  putLetter(base, parent.session, { type: 'ended', run: row.id });
  wakeRun(base, parent.id);
}

/** Within a change: puts a resting run back; one that is under way goes back once it rests, so that no call to it is lost. */
export function wakeRun(base: Base, id: string): void {
  const row = findRun(base, id);
  if (row?.status === 'resting') requeue(base, row.key, Date.now());
  if (row?.status === 'running') base.run('UPDATE runs SET woken = 1 WHERE key = ?', row.key);
}

/** Within a change: a run goes back into the queue, to be taken from a time on. */
export function requeue(base: Base, key: number, due: number): void {
  base.run(
    `UPDATE runs SET status = 'queued', due = max(?, coalesce(later, 0)), holder = NULL, questions = NULL WHERE key = ?`,
    due,
    key,
  );
  base.touch('queue');
}

/** Within a change: adds a letter to a session's, and gives its place. */
export function putLetter(base: Base, session: string, letter: Letter): number {
  const sql = 'INSERT INTO letters (session, time, letter) VALUES (?, ?, ?) RETURNING place';
  const row = base.one<{ place: number }>(sql, session, Date.now(), JSON.stringify(letter));
  base.touch('letters');
  return row?.place ?? 0;
}
