// Folders of their own for sessions that get hurt, and finished sessions to hurt.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import type { Event } from '../../src/core/index.ts';
import { openJsonl } from '../../src/stores/index.ts';
import { eventsOf } from './checker.ts';
import { resume } from './session.ts';

/** The folder of this test file; removed when its tests are over. */
export const folder: string = fs.mkdtempSync(path.join(os.tmpdir(), 'fairlead-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

let places = 0;

/** Where a session and its ledger go. */
export type Place = { readonly file: string; readonly ledger: string };

/** A place in a folder of its own. */
export function place(): Place {
  const own = path.join(folder, String(++places));
  fs.mkdirSync(own);
  return { file: path.join(own, 'session.jsonl'), ledger: path.join(own, 'ledger') };
}

/** A finished session: its events, and its lines, each with its line end. */
export type Story = { readonly lines: readonly string[]; readonly events: readonly Event[] };

let told: Promise<Story> | undefined;

/** The scripted session, run once. */
export function story(): Promise<Story> {
  told ??= tell();
  return told;
}

async function tell(): Promise<Story> {
  const { file, ledger } = place();
  const log = await openJsonl(file, { session: 's1' });
  await resume(log, ledger);
  const events = await eventsOf(log);
  await log.close();
  return { lines: fs.readFileSync(file, 'utf8').match(/[^\n]*\n/g) ?? [], events };
}

/** Puts bytes where a session goes, with the time of a file that nobody touched since its last event. */
export function plant(bytes: string | Buffer, events: readonly Event[] = []): Place {
  const where = place();
  fs.writeFileSync(where.file, bytes);
  const last = events.at(-1);
  if (last) fs.utimesSync(where.file, new Date(last.time), new Date(last.time));
  return where;
}
