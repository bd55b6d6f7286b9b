// The sessions of the simulated store: one fenced writer each, any number of readers.
import type { Event, FleetSessionStore, Log } from '../src/core/index.ts';
import { defaultListLimit } from '../src/stores/defaults.ts';
import { createReaderLog, createWriterLog, type SessionLogParts } from '../src/stores/session-log.ts';
import { sessionNotFoundError } from '../src/stores/store-errors.ts';
import type { StoreLink } from './store.ts';

/** Creates the sessions of a connection. */
export function createModelSessions(link: StoreLink): FleetSessionStore {
  const { state, lease, read, write, addWaiter, process } = link;
  const { sessions } = state.tables;

  const createReader = (session: string, isClosed: () => boolean): Pick<Log, 'read' | 'follow'> => ({
    async *read({ at, from = 'root' } = {}) {
      const events = await read('read log', () => state.readBranch(session, at, from));
      if (events.length > 0) yield events;
    },
    async *follow(from, signal) {
      const waiter = addWaiter(`session ${session}`);
      try {
        for (let last = from; !signal.aborted && !isClosed();) {
          const since = last;
          const events = await read('follow log', (): readonly Event[] =>
            (sessions.get(session)?.events ?? []).slice(since),
          );
          for (const event of events) {
            if (signal.aborted) return;
            last = event.seq;
            yield event;
          }
          if (events.length === 0 && !isClosed()) await waiter.wait({ signal });
        }
      } finally {
        waiter.remove();
      }
    },
  });

  const toParts = (session: string): SessionLogParts => ({
    session,
    createReader: (isClosed) => createReader(session, () => isClosed() || link.isClosed()),
    notify: () => state.notify(`session ${session}`),
  });

  async function open(session: string, name: string, force: boolean, tenant: string | null): Promise<Log> {
    const token = await lease.token();
    const { fence } = await write('open session', () => state.openSession({ session, token, name, force, tenant }), {
      durable: false,
    }).catch((error: unknown) => {
      if ((error as { code?: unknown }).code === 'store/fenced') lease.lose(token);
      throw error;
    });
    const append: Log['append'] = (after, facts, { durable = false, parent } = {}) => {
      const suffix = process.port.randomId();
      const types = facts.map(({ type }) => type).join(' ') || 'nothing';
      return write(
        `append ${types} to ${session}`,
        () => state.append({ session, fence, after, facts, parent, suffix }),
        { durable },
      );
    };
    return createWriterLog(toParts(session), append, async () => {
      if (!link.isClosed())
        await write('release session', () => state.releaseSession(session, fence), { durable: false });
    });
  }

  return {
    open: (session, { holder = 'model', force = false, tenant = null } = {}) => open(session, holder, force, tenant),
    async reader(session) {
      await read('open reader', () => {
        if (!sessions.get(session)) throw sessionNotFoundError(session);
      });
      return createReaderLog(toParts(session));
    },
    find: (session) =>
      read('find session', () => {
        const entry = sessions.get(session);
        return entry && state.toSessionInfo(entry);
      }),
    list: ({ limit = defaultListLimit, before, tenant } = {}) =>
      read('list sessions', () => {
        const sorted = sessions.rows().toSorted((a, b) => b.updatedAt - a.updatedAt || b.key - a.key);
        const start = before === undefined ? 0 : sorted.findIndex(({ session }) => session === before) + 1;
        return sorted
          .slice(start)
          .filter((entry) => tenant === undefined || entry.tenant === tenant)
          .slice(0, limit)
          .map(state.toSessionInfo);
      }),
    remove: (session) => write('remove session', () => state.removeSession(session)),
  };
}
