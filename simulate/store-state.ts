// The state of the simulated store: one per schedule, shared by all processes that open it.
import type { Event, Fact, SessionInfo } from '../src/core/index.ts';
import { createEvents, findSessionName } from '../src/stores/event-row.ts';
import { killSwitchRowName } from '../src/stores/kill-switch.ts';
import { readBranch } from '../src/stores/read-branch.ts';
import {
  appendConflictError,
  fencedError,
  lockedError,
  otherTenantError,
  sessionNotFoundError,
  unknownEventError,
} from '../src/stores/store-errors.ts';
import type { Protection } from './protections.ts';
import { createStoreRuns, type StoreRuns } from './store-runs.ts';
import { createTables, type Journal, type SessionEntry } from './store-tables.ts';

/** The options of a store. */
export type StoreOptions = {
  /** The clock of the store, in milliseconds since 1970. */
  readonly now: () => number;
  readonly leaseMs: number;
  readonly retryMs: number;
  readonly maxWorkerLosses: number;
  /** Whether a process is known to have ended; its lease then counts as expired. */
  readonly isProcessDead: (process: string) => boolean;
  readonly removed?: ReadonlySet<Protection>;
  /** Called with each accepted append: the fence of the writer, and that of the session. */
  readonly onAppend?: (session: string, fence: number, current: number) => void;
};

/** The state of a store. */
export type StoreState = {
  readonly options: StoreOptions;
  readonly tables: Journal;
  readonly runs: StoreRuns;
  readonly nextKey: () => number;
  /** Calls the listener with each topic that changed. Returns the function that unsubscribes. */
  readonly subscribe: (listener: (topic: string) => void) => () => void;
  readonly notify: (topic: string) => void;
  readonly isRemoved: (protection: Protection) => boolean;
  readonly isLeaseValid: (token: string) => boolean;
  readonly startLease: (process: string) => string;
  /** False if the lease was taken over. */
  readonly renewLease: (token: string) => boolean;
  readonly endLease: (token: string) => void;
  readonly reapExpired: (own: string | undefined) => void;
  readonly openSession: (request: OpenRequest) => SessionEntry;
  readonly releaseSession: (session: string, fence: number) => void;
  readonly append: (request: AppendRequest) => readonly Event[];
  readonly readBranch: (session: string, at: string | undefined, from: 'root' | 'epoch') => readonly Event[];
  readonly toSessionInfo: (entry: SessionEntry) => SessionInfo;
  readonly removeSession: (session: string) => void;
  /** A crash: loses the last `writes` writes that are not durable. */
  readonly crash: (writes: number) => void;
};

/** A request to open a session for writing. */
export type OpenRequest = {
  readonly session: string;
  readonly token: string;
  readonly name: string;
  readonly force: boolean;
  readonly tenant: string | null;
};

/** A request to append to a session. */
export type AppendRequest = {
  readonly session: string;
  readonly fence: number;
  readonly after: number;
  readonly facts: readonly Fact[];
  readonly parent: string | undefined;
  /** Makes the ids of the events unique. */
  readonly suffix: string;
};

/** Creates an empty store whose kill switch is off. */
export function createStoreState(options: StoreOptions): StoreState {
  const tables = createTables(!(options.removed?.has('durable') ?? false));
  const { sessions, leases } = tables;
  const listeners = new Set<(topic: string) => void>();
  let keys = 0;
  let startedAt = -Infinity;
  const nextKey = (): number => (keys += 1);
  const { now } = options;
  const notify = (topic: string): void => {
    for (const listener of listeners) listener(topic);
  };
  const isRemoved = (protection: Protection): boolean => options.removed?.has(protection) === true;
  const isLeaseValid = (token: string): boolean => leases.get(token) !== undefined;
  const runs = createStoreRuns({ tables, now, nextKey, notify, isLeaseValid, isRemoved });
  tables.transact(true, () => tables.control.set(killSwitchRowName, JSON.stringify({ stopped: false })));

  const isExpired = (token: string): boolean => {
    const lease = leases.get(token);
    if (!lease) return true;
    if (options.isProcessDead(lease.process)) return true;
    // While the store is down no process can send a heartbeat.
    return now() - Math.max(lease.seen, startedAt) > lease.leaseMs;
  };

  function reap(token: string): void {
    if (!leases.remove(token)) return;
    for (const entry of sessions.rows())
      if (entry.holder === token)
        sessions.set(entry.session, { ...entry, fence: entry.fence + 1, holder: null, holderName: null });
    runs.requeueLost(token, options.maxWorkerLosses);
  }

  function mustFind(session: string): SessionEntry {
    const entry = sessions.get(session);
    if (!entry) throw sessionNotFoundError(session);
    return entry;
  }

  const assertNotHeld = ({ session, holder, holderName }: SessionEntry): void => {
    if (holder !== null && !isExpired(holder)) throw lockedError(`Session ${session}`, holderName ?? undefined);
  };

  return {
    options,
    tables,
    runs,
    nextKey,
    notify,
    isRemoved,
    isLeaseValid,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    startLease(process) {
      const token = `${process}-lease-${nextKey()}`;
      leases.set(token, { token, process, seen: now(), leaseMs: options.leaseMs });
      return token;
    },
    renewLease(token) {
      const lease = leases.get(token);
      if (!lease) return false;
      leases.set(token, { ...lease, seen: now() });
      return true;
    },
    endLease: reap,
    reapExpired(own) {
      if (isRemoved('lease-expiry')) return;
      for (const { token } of leases.rows()) if (token !== own && isExpired(token)) reap(token);
    },
    openSession({ session, token, name, force, tenant }) {
      // A worker whose lease was taken over has lost the run for which it forces the session open.
      if (force && !isLeaseValid(token)) throw fencedError(`Session ${session}`);
      const found = sessions.get(session);
      if (found && tenant !== null && (found.tenant ?? tenant) !== tenant) throw otherTenantError(session);
      if (found && !force) assertNotHeld(found);
      const time = now();
      const entry: SessionEntry = {
        ...(found ?? {
          key: nextKey(),
          session,
          events: [],
          fence: 0,
          tenant,
          name: null,
          createdAt: time,
          updatedAt: time,
        }),
        holder: token,
        holderName: name,
      };
      const opened = { ...entry, fence: entry.fence + 1 };
      sessions.set(session, opened);
      return opened;
    },
    releaseSession(session, fence) {
      const entry = sessions.get(session);
      if (entry?.fence === fence) sessions.set(session, { ...entry, holder: null, holderName: null });
    },
    append({ session, fence, after, facts, parent, suffix }) {
      const entry = sessions.get(session);
      const last = entry?.events.at(-1);
      if (facts.length === 0 && isRemoved('empty-append')) return [];
      if (!entry || (entry.fence !== fence && !isRemoved('fence'))) throw fencedError(`Session ${session}`);
      if ((last?.seq ?? 0) !== after && !isRemoved('append-order')) throw appendConflictError(after, last?.seq ?? 0);
      options.onAppend?.(session, fence, entry.fence);
      if (parent !== undefined && !entry.events.some(({ id }) => id === parent)) throw unknownEventError(parent);
      const time = new Date(now()).toISOString();
      const position = { after: last?.seq ?? 0, parent: parent ?? last?.id ?? null, suffix };
      // What is stored is JSON, as in a database.
      const events = createEvents(JSON.parse(JSON.stringify(facts)) as readonly Fact[], position).map((event) => ({
        ...event,
        time,
      }));
      if (events.length > 0)
        sessions.set(session, {
          ...entry,
          events: [...entry.events, ...events],
          name: findSessionName(events) ?? entry.name,
          updatedAt: now(),
        });
      notify(`session ${session}`);
      return events;
    },
    readBranch(session, at, from) {
      // A crash of the store may have lost the session that its writer has just created.
      return readBranch(sessions.get(session)?.events ?? [], at, from);
    },
    toSessionInfo({ session, createdAt, updatedAt, events, name, tenant, holder, holderName }) {
      return {
        session,
        createdAt: new Date(createdAt).toISOString(),
        updatedAt: new Date(updatedAt).toISOString(),
        events: events.length,
        ...(name === null ? {} : { name }),
        ...(tenant === null ? {} : { tenant }),
        ...(holder === null || holderName === null || isExpired(holder) ? {} : { holder: holderName }),
      };
    },
    removeSession(session) {
      assertNotHeld(mustFind(session));
      sessions.remove(session);
      for (const letter of tables.letters.rows())
        if (letter.session === session) tables.letters.remove(String(letter.position));
    },
    crash(writes) {
      tables.lose(writes);
      startedAt = now();
      notify('queue');
      notify('inbox');
    },
  };
}
