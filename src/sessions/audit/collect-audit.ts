// Collects the audit of a period from session files and from the store of a fleet: verifies each session, and lists its records.
import { errorMessage, type Event, type FleetStore, type Log } from '../../core/index.ts';
import { openJsonl, verifyFile } from '../../stores/index.ts';
import { findRewrittenHead } from '../known-heads.ts';
import { collectEvents } from '../reports/index.ts';
import { listSessionFiles, subagentSessionsDir, type SessionDirs } from '../session-directory.ts';
import { eachStoreSession, withSessionReader } from '../store-sessions.ts';
import { readTranscript } from '../transcript.ts';
import { listAuditRecords, type AuditRecord } from './audit-records.ts';

/** A period: from a time, to before another. */
export type AuditPeriod = { readonly from: string; readonly to: string };

/** The verification of a session: `chained` if its file has a hash chain, which a database does not. */
export type AuditedSession = {
  readonly session: string;
  readonly events: number;
  readonly ok: boolean;
  readonly chained: boolean;
  readonly problems: readonly string[];
};

/** The audit of a period. */
export type Audit = {
  readonly period: AuditPeriod;
  readonly sessions: readonly AuditedSession[];
  /** In the order of their times. */
  readonly records: readonly AuditRecord[];
};

/** Where sessions are read from. */
export type AuditSources = {
  readonly dirs?: SessionDirs;
  readonly store?: FleetStore;
  /** Removes secrets from questions, reasons and texts; nothing by default. */
  readonly redact?: (text: string) => string;
};

/** Collects the audit of a period. A session that cannot be read is listed with its problem; it does not end the audit. */
export async function collectAudit(
  { dirs, store, redact = (text) => text }: AuditSources,
  period: AuditPeriod,
): Promise<Audit> {
  const sessions: AuditedSession[] = [];
  const records: AuditRecord[] = [];
  const add = ({ records: own, ...session }: AuditedSession & { readonly records: readonly AuditRecord[] }): void => {
    // A session without events in the period is left out, unless it is damaged: then its times cannot be known.
    if (own.length === 0 && session.ok) return;
    sessions.push(session);
    records.push(...own.map((record) => redactRecord(record, redact)));
  };
  if (dirs)
    for (const { name, file } of [...listSessionFiles(dirs), ...listSessionFiles(dirs, subagentSessionsDir(dirs))])
      add(await auditFile(dirs, name, file, period));
  if (store) for await (const session of eachStoreSession(store)) add(await auditStoreSession(store, session, period));
  return { period, sessions, records: records.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0)) };
}

function redactRecord(record: AuditRecord, redact: (text: string) => string): AuditRecord {
  if (record.type === 'denial') return { ...record, text: redact(record.text) };
  if (record.type === 'run') return record;
  const reason = record.reason === undefined ? {} : { reason: redact(record.reason) };
  return { ...record, question: redact(record.question), ...reason };
}

type SessionAudit = AuditedSession & { readonly records: readonly AuditRecord[] };

async function auditFile(dirs: SessionDirs, name: string, file: string, period: AuditPeriod): Promise<SessionAudit> {
  const base = { session: name, chained: true };
  try {
    const { ok, events: count, problems } = await verifyFile(file);
    const rewritten = findRewrittenHead(dirs, file);
    const sentences = [...problems.map(({ message }) => message), ...(rewritten === undefined ? [] : [rewritten])];
    const log = await openJsonl(file, { mode: 'read' });
    try {
      const records = listIn(period, name, await readAllEvents(log));
      return { ...base, ok: ok && rewritten === undefined, events: count, problems: sentences, records };
    } finally {
      await log.close();
    }
  } catch (error) {
    return { ...base, ok: false, events: 0, problems: [errorMessage(error)], records: [] };
  }
}

async function auditStoreSession(store: FleetStore, session: string, period: AuditPeriod): Promise<SessionAudit> {
  const base = { session, chained: false };
  try {
    const events = await withSessionReader(store, session, readAllEvents);
    return { ...base, ok: true, events: events.length, problems: [], records: listIn(period, session, events) };
  } catch (error) {
    return { ...base, ok: false, events: 0, problems: [errorMessage(error)], records: [] };
  }
}

const listIn = ({ from, to }: AuditPeriod, session: string, events: readonly Event[]): readonly AuditRecord[] =>
  listAuditRecords(session, events, (time) => time >= from && time < to);

/** All branches in the order written: what was approved on a branch that was left counts too. */
const readAllEvents = async (log: Log): Promise<readonly Event[]> =>
  collectEvents(log, (await readTranscript(log)).state.seq);
