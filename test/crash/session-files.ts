// Temporary directories for sessions that tests damage, and complete sessions to damage.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import type { Event } from '../../src/core/index.ts';
import { openJsonl } from '../../src/stores/index.ts';
import { readLogEvents } from './checker.ts';
import { resumeScriptedSession } from './session.ts';

/** The directory of this test file; removed after its tests. */
export const tempDir: string = fs.mkdtempSync(path.join(os.tmpdir(), 'fairlead-'));
after(() => fs.rmSync(tempDir, { recursive: true, force: true }));

let createdCount = 0;

/** The paths of a session and its ledger. */
export type SessionFiles = { readonly file: string; readonly ledger: string };

/** Paths in a new directory. */
export function createSessionFiles(): SessionFiles {
  const own = path.join(tempDir, String(++createdCount));
  fs.mkdirSync(own);
  return { file: path.join(own, 'session.jsonl'), ledger: path.join(own, 'ledger') };
}

/** A completed session: its events, and its lines, each with its line end. */
export type FinishedSession = { readonly lines: readonly string[]; readonly events: readonly Event[] };

let finishedSession: Promise<FinishedSession> | undefined;

/** The scripted session, run once. */
export function getFinishedSession(): Promise<FinishedSession> {
  finishedSession ??= runScriptedSession();
  return finishedSession;
}

async function runScriptedSession(): Promise<FinishedSession> {
  const { file, ledger } = createSessionFiles();
  const log = await openJsonl(file, { session: 's1' });
  await resumeScriptedSession(log, ledger);
  const events = await readLogEvents(log);
  await log.close();
  return { lines: fs.readFileSync(file, 'utf8').match(/[^\n]*\n/g) ?? [], events };
}

/** Writes a session file with a modification time that matches its last event, as if no other program had touched it. */
export function writeSessionBytes(bytes: string | Buffer, events: readonly Event[] = []): SessionFiles {
  const where = createSessionFiles();
  fs.writeFileSync(where.file, bytes);
  const last = events.at(-1);
  if (last) fs.utimesSync(where.file, new Date(last.time), new Date(last.time));
  return where;
}
