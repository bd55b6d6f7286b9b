// Reads, exports and verifies the sessions of queued runs, which are in the store of the fleet and not in files.
import { errorMessage, type FleetStore, type Log, type SessionStore } from '../core/index.ts';
import { exportDocument, type ExportDocument, type ExportFormat } from './export.ts';
import { readTranscript, type SessionContents } from './transcript.ts';

/** The number of sessions that one query of the store returns. */
const pageSize = 1000;

/** Reads a session of the store. */
export const readStoreSession = (
  store: FleetStore,
  session: string,
): Promise<Pick<SessionContents, 'state' | 'messages' | 'calls' | 'added'>> =>
  withSessionReader(store, session, readTranscript);

/** Exports a session of the store as text. */
export const exportStoreSession = async (store: FleetStore, session: string, format: ExportFormat): Promise<string> =>
  exportDocument(await withSessionReader(store, session, (log) => readStoreDocument(log, session)), format);

async function readStoreDocument(log: Log, session: string): Promise<ExportDocument> {
  const { state, messages, calls, added } = await readTranscript(log);
  const times: string[] = [];
  for await (const events of log.read()) for (const item of events.map(({ time }) => time)) times.push(item);
  const { model, total: spent } = state;
  return {
    name: session,
    id: session,
    created: times[0] ?? '',
    changed: times.at(-1) ?? '',
    model,
    spent,
    messages,
    calls,
    added,
  };
}

/** The result of verifying one session; `what` says what is wrong with it. */
export type StoreSessionCheck = {
  readonly name: string;
  readonly ok: boolean;
  readonly events: number;
  readonly what?: string;
};

/** Reads every event of one session of the store, or of all sessions if none is named, and checks that each can be read. */
export async function verifyStoreSessions(store: FleetStore, session?: string): Promise<readonly StoreSessionCheck[]> {
  const checks: StoreSessionCheck[] = [];
  for await (const name of session === undefined ? eachStoreSession(store) : [session])
    checks.push(await withSessionReader(store, name, (log) => verifyStoreSession(log, name)));
  return checks;
}

/** Yields the ids of all sessions of a store. */
export async function* eachStoreSession({ sessions }: FleetStore): AsyncGenerator<string> {
  for (let before: string | undefined; ;) {
    const page = await sessions.list({ limit: pageSize, ...(before === undefined ? {} : { before }) });
    for (const { session } of page) yield session;
    before = page.at(-1)?.session;
    if (page.length < pageSize || before === undefined) return;
  }
}

/** Reads all branches in the order written, up to the last event that the log reports. */
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

/** Calls a function with a read-only log of a session, and closes the log after it. */
export async function withSessionReader<T>(
  { sessions }: { readonly sessions: Pick<SessionStore, 'reader'> },
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
