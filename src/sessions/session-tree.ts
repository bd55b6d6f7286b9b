// Reads a recorded session with the sessions below it: a session file with the files of its sub-agents, or a session of the fleet with those of its plan steps.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Event, FleetStore, Log } from '../core/index.ts';
import { parseSubagentMetadata } from '../agent/subagents/index.ts';
import { collectEvents } from './reports/index.ts';
import { findSession, listSessionFiles, type SessionDirs } from './session-directory.ts';
import { withSessionReader } from './store-sessions.ts';
import { openJsonl } from '../stores/index.ts';

/** A recorded session: its id and all its events in the order written. */
export type RecordedSession = { readonly session: string; readonly events: readonly Event[] };

/** A session and the sessions below it. */
export type SessionTree = { readonly main: RecordedSession; readonly children: readonly RecordedSession[] };

/** Reads a session by the path of its file, its name or its id, with the sessions of its sub-agents. */
export async function readSessionTree(dirs: SessionDirs, nameOrFile: string): Promise<SessionTree> {
  const isFile = statSync(nameOrFile, { throwIfNoEntry: false })?.isFile() === true;
  return readFileTree(dirs, isFile ? nameOrFile : findSession(dirs, nameOrFile).file);
}

/** Reads the session of a file, with the sessions of its sub-agents. */
export async function readFileTree(dirs: SessionDirs, file: string): Promise<SessionTree> {
  const main = await readFile(file);
  const children: RecordedSession[] = [];
  for (const each of listSessionFiles(dirs, path.join(path.dirname(file), 'agents'))) {
    // Most files belong to other sessions; their metadata is at the beginning and names the parent.
    if (!readFileSync(each.file, 'utf8').includes(main.session)) continue;
    const child = await readFile(each.file).catch(() => undefined);
    const metadata = child?.events.map(parseSubagentMetadata).find((found) => found !== undefined);
    if (child && metadata?.parent === main.session) children.push(child);
  }
  return { main, children };
}

async function readFile(file: string): Promise<RecordedSession> {
  const log = await openJsonl(file, { mode: 'read' });
  try {
    const events = await readAllEvents(log);
    const started = events.find((event) => event.type === 'session-started');
    return { session: started?.session ?? path.basename(file), events };
  } finally {
    await log.close();
  }
}

/** The parts of a fleet store that reading a session needs. */
type SessionSource = {
  readonly sessions: Pick<FleetStore['sessions'], 'reader'>;
  readonly queue: Pick<FleetStore['queue'], 'list'>;
};

/** Reads a session of the fleet, with the sessions of the runs that its plan started. */
export async function readFleetSessionTree(store: SessionSource, session: string): Promise<SessionTree> {
  const read = (id: string): Promise<RecordedSession> =>
    withSessionReader(store, id, async (log) => ({ session: id, events: await readAllEvents(log) }));
  const main = await read(session);
  const runs = await store.queue.list({ parent: session, limit: 1000 });
  const started = runs.filter(({ id }) => id.startsWith(`${session}/`)).map((run) => run.session);
  const children: RecordedSession[] = [];
  for (const id of new Set(started)) {
    const child = await read(id).catch(() => undefined);
    if (child) children.push(child);
  }
  return { main, children };
}

/** Every event of all branches, in the order written. */
async function readAllEvents(log: Log): Promise<readonly Event[]> {
  let last = 0;
  for await (const events of log.read()) last = events.at(-1)?.seq ?? last;
  return collectEvents(log, last);
}
