// The sessions of queued runs as `fairlead sessions --fleet` shows them: they are in the store of the fleet, not in files of their own.
import {
  errorMessage,
  escapeInvisible,
  escapeInvisibleLine,
  type FleetStore,
  type Log,
  type SessionInfo,
} from '../core/index.ts';
import { print, printErr } from '../cli/args/stdio.ts';
import { exportDocument, type ExportFormat } from './export.ts';
import type { ExportDocument } from './export-document.ts';
import { readTranscript, formatSessionTranscript } from './transcript.ts';
import { formatColumns } from '../core/format-columns.ts';

/** So many are listed; who wants others knows which. */
const maxListed = 1000;

/** Lists the sessions, the one changed last first. */
export async function listStoreSessions(store: FleetStore, json: boolean): Promise<number> {
  const all = await store.sessions.list({ most: maxListed });
  if (json) print(`${JSON.stringify(all, null, 2)}\n`);
  else if (all.length === 0) printErr(`There is no session in ${store.description} yet.\n`);
  else {
    const rows = await Promise.all(all.map((entry) => formatSessionRow(store, entry)));
    print(formatColumns([['session', 'last change', 'events', 'begins with'], ...rows]));
  }
  if (all.length === maxListed) printErr(`These are the ${maxListed} that changed last.\n`);
  return 0;
}

async function formatSessionRow({ queue }: FleetStore, entry: SessionInfo): Promise<readonly string[]> {
  const { session, changed, events } = entry;
  const words = (await queue.list({ session })).at(-1)?.words ?? '';
  return [escapeInvisibleLine(session), changed.slice(0, 16).replace('T', ' '), String(events), truncateText(words)];
}

const truncateText = (text: string): string => {
  const line = escapeInvisibleLine(text);
  return line.length > 50 ? `${line.slice(0, 49)}…` : line;
};

/** Shows what was said in a session. */
export async function showStoreSession(store: FleetStore, session: string): Promise<number> {
  const { messages } = await withSessionReader(store, session, readTranscript);
  if (messages.length === 0) printErr('Nothing was said in it yet.\n');
  else print(`${formatSessionTranscript(messages)}\n`);
  return 0;
}

/** A session as a text to take along. */
export const exportStoreSession = async (store: FleetStore, session: string, format: ExportFormat): Promise<string> =>
  exportDocument(await withSessionReader(store, session, (log) => readStoreDocument(log, session)), format);

async function readStoreDocument(log: Log, session: string): Promise<ExportDocument> {
  const { state, messages } = await readTranscript(log);
  const times: string[] = [];
  for await (const events of log.read()) times.push(...events.map(({ time }) => time));
  const { model, total: spent } = state;
  return { name: session, id: session, created: times[0] ?? '', changed: times.at(-1) ?? '', model, spent, messages };
}

type StoreSessionCheck = {
  readonly name: string;
  readonly ok: boolean;
  readonly events: number;
  readonly what?: string;
};

/** Reads every event of a session, or of all, and says which cannot be believed: 0 none, 1 some. */
export async function verifyStoreSessions(
  store: FleetStore,
  session: string | undefined,
  json: boolean,
): Promise<number> {
  const found: StoreSessionCheck[] = [];
  for await (const name of session === undefined ? eachStoreSession(store) : [session])
    found.push(await withSessionReader(store, name, (log) => verifyStoreSession(log, name)));
  if (json) print(`${JSON.stringify(found, null, 2)}\n`);
  else
    for (const { name, ok, events, what } of found)
      print(
        `${escapeInvisibleLine(name)}: ${ok ? `sound, ${events} events` : 'not sound'}\n${what === undefined ? '' : `  ${escapeInvisible(what)}\n`}`,
      );
  return found.every(({ ok }) => ok) ? 0 : 1;
}

async function* eachStoreSession({ sessions }: FleetStore): AsyncGenerator<string> {
  for (let before: string | undefined; ;) {
    const page = await sessions.list({ most: maxListed, ...(before === undefined ? {} : { before }) });
    for (const { session } of page) yield session;
    before = page.at(-1)?.session;
    if (page.length < maxListed || before === undefined) return;
  }
}

/** All branches, in the order written: up to what the log itself says is its end. */
async function verifyStoreSession(log: Log, name: string): Promise<StoreSessionCheck> {
  let events = 0;
  const done = new AbortController();
  try {
    const { seq } = (await readTranscript(log)).state;
    for await (const event of seq > 0 ? log.follow(0, done.signal) : []) {
      events = event.seq;
      if (events >= seq) break;
    }
    return { name, ok: true, events };
  } catch (error) {
    return { name, ok: false, events, what: errorMessage(error) };
  } finally {
    done.abort();
  }
}

async function withSessionReader<T>(
  { sessions }: FleetStore,
  session: string,
  work: (log: Log) => Promise<T>,
): Promise<T> {
  const log = await sessions.reader(session);
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}
