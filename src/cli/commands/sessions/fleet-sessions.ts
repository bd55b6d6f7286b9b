// Prints the sessions of queued runs for `fairlead sessions --fleet`; they are in the store of the fleet.
import {
  escapeInvisible,
  escapeInvisibleLine,
  type FleetStore,
  type SessionInfo,
  formatColumns,
} from '../../../core/index.ts';
import { formatSessionTranscript, readStoreSession, verifyStoreSessions } from '../../../sessions/index.ts';
import { print, printErr } from '../../args/stdio.ts';

export { exportStoreSession } from '../../../sessions/index.ts';

const maxListed = 1000;

/** Lists the sessions, the one changed last first. */
export async function listFleetSessions(store: FleetStore, json: boolean): Promise<number> {
  const all = await store.sessions.list({ limit: maxListed });
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
  const { session, updatedAt, events } = entry;
  const prompt = (await queue.list({ session })).at(-1)?.prompt ?? '';
  return [escapeInvisibleLine(session), updatedAt.slice(0, 16).replace('T', ' '), String(events), truncateText(prompt)];
}

const truncateText = (text: string): string => {
  const line = escapeInvisibleLine(text);
  return line.length > 50 ? `${line.slice(0, 49)}…` : line;
};

/** Prints the messages of a session. */
export async function showFleetSession(store: FleetStore, session: string): Promise<number> {
  const { messages, calls, added } = await readStoreSession(store, session);
  if (messages.length === 0) printErr('There are no messages yet.\n');
  else print(`${formatSessionTranscript(messages, calls, added)}\n`);
  return 0;
}

/** Verifies one session, or all, and returns the exit code: 0 if all can be read, 1 otherwise. */
export async function verifyFleetSessions(
  store: FleetStore,
  session: string | undefined,
  json: boolean,
): Promise<number> {
  const found = await verifyStoreSessions(store, session);
  if (json) print(`${JSON.stringify(found, null, 2)}\n`);
  else
    for (const { name, ok, events, what } of found)
      print(
        `${escapeInvisibleLine(name)}: ${ok ? `ok (${events} events)` : 'damaged'}\n${what === undefined ? '' : `  ${escapeInvisible(what)}\n`}`,
      );
  return found.every(({ ok }) => ok) ? 0 : 1;
}
