// The simulated store as one process sees it: every call goes through the process, so that faults can hit it.
import type { FleetStore, PartialTextChannel, ProcessPort } from '../src/core/index.ts';
import { createKillSwitch, killSwitchRowName } from '../src/stores/kill-switch.ts';
import { createLeaseLossListeners, type LeaseLossListeners } from '../src/stores/lease-loss-listeners.ts';
import { prune } from '../src/stores/prune.ts';
import { closedError } from '../src/stores/store-errors.ts';
import { createWaiters, type Waiter } from '../src/stores/waiters.ts';
import { createWorkerRegistry, workerTimeoutMs } from '../src/stores/worker-registry.ts';
import type { SimulatedProcess } from './process.ts';
import { createModelInbox } from './store-inbox.ts';
import { createModelLedger } from './store-ledger.ts';
import { createModelQueue } from './store-queue.ts';
import { createModelSessions } from './store-sessions.ts';
import type { StoreState } from './store-state.ts';

/** The process that opens a store. */
export type StoreProcess = Pick<SimulatedProcess, 'name' | 'call' | 'deliver'> & { readonly port: ProcessPort };

/** How a process reaches the store. */
export type StoreLink = {
  readonly state: StoreState;
  readonly process: StoreProcess;
  readonly lease: ModelLease;
  /** Reads from the store. A call that only polls is not counted. */
  readonly read: <T>(name: string, query: () => T, options?: { readonly uncounted?: boolean }) => Promise<T>;
  /** Changes the store in one transaction; durable unless said otherwise. */
  readonly write: <T>(name: string, change: () => T, options?: WriteOptions) => Promise<T>;
  /** Registers for a topic. */
  readonly addWaiter: (topic: string) => Waiter;
  readonly isClosed: () => boolean;
};

type WriteOptions = { readonly durable?: boolean; readonly uncounted?: boolean };

/** The options of one connection. */
export type ConnectionOptions = {
  /** After how long, in milliseconds, a notification arrives; more than once, or never, if the list says so. */
  readonly notificationDelays?: () => readonly number[];
  /** Whether a call that failed because the store was unreachable is sent again, with the same request id. */
  readonly retries?: boolean;
  readonly partialText?: PartialTextChannel & { close(): Promise<void> };
  /** Called in a process whose watch of the inbox breaks; true: it breaks now. */
  readonly breaksWatch?: () => boolean;
};

const silentText: PartialTextChannel = { publish() {}, commit() {}, discard() {}, subscribe: () => () => {} };

const activeSwitch = JSON.stringify({ stopped: false });

/** How often a lost call is sent again. */
const maxRetries = 4;

/** Opens the store for a process. */
export function openModelStore(state: StoreState, process: StoreProcess, options: ConnectionOptions = {}): FleetStore {
  const { tables } = state;
  const { port } = process;
  let closed = false;
  const waiters = createWaiters(undefined, port);
  const registered = new Map<string, number>();
  const unsubscribe = state.subscribe((topic) => {
    if ((registered.get(topic) ?? 0) === 0) return;
    for (const ms of options.notificationDelays?.() ?? [0.2]) process.deliver(ms, () => waiters.notify(topic));
  });

  async function send<T>(name: string, act: () => T, uncounted: boolean): Promise<T> {
    let reply: { readonly value: T } | undefined;
    const actOnce = (): T => {
      if (reply) return reply.value;
      const value = act();
      reply = { value };
      return value;
    };
    for (let attempt = 0; ; attempt++) {
      if (closed) throw closedError('The store');
      try {
        return await process.call({ name, target: 'store', act: actOnce, uncounted });
      } catch (error) {
        const isLost = (error as { code?: unknown }).code === 'store/unreachable';
        if (!isLost || uncounted || options.retries !== true || attempt >= maxRetries) throw error;
        await new Promise<void>((resolve) => void port.timer(100 * 2 ** attempt, resolve));
      }
    }
  }

  const link: StoreLink = {
    state,
    process,
    lease: createModelLease(state, process, () => link),
    read: (name, query, { uncounted = false } = {}) => send(name, query, uncounted),
    write: (name, change, { durable = true, uncounted = false } = {}) =>
      send(name, () => tables.transact(durable, change), uncounted),
    addWaiter(topic) {
      const waiter = waiters.add(topic as 'queue');
      registered.set(topic, (registered.get(topic) ?? 0) + 1);
      return {
        wait: (waitOptions) => waiter.wait(waitOptions),
        remove() {
          registered.set(topic, (registered.get(topic) ?? 1) - 1);
          waiter.remove();
        },
      };
    },
    isClosed: () => closed,
  };

  return {
    description: `model of ${process.name}`,
    sessions: createModelSessions(link),
    queue: createModelQueue(link),
    inbox: createModelInbox(link, options.breaksWatch ?? (() => false)),
    partialText: options.partialText ?? silentText,
    killSwitch: createKillSwitch({
      read: () =>
        link.read(
          'kill switch',
          () => (state.isRemoved('kill-switch') ? activeSwitch : tables.control.get(killSwitchRowName)),
          { uncounted: true },
        ),
      write: (value) =>
        link.write('set kill switch', () => {
          tables.control.set(killSwitchRowName, value);
          state.notify('queue');
        }),
    }),
    ledger: createModelLedger(link),
    workers: createWorkerRegistry({
      save: (worker, entry) =>
        link.write('heartbeat', () => tables.workers.set(worker, { worker, entry, seen: state.options.now() }), {
          durable: false,
          uncounted: true,
        }),
      remove: (worker) => link.write('deregister', () => tables.workers.remove(worker), { uncounted: true }),
      list: () =>
        link.read('list workers', () =>
          tables.workers
            .rows()
            .filter(({ seen }) => seen >= state.options.now() - workerTimeoutMs)
            .toSorted((a, b) => (a.worker < b.worker ? -1 : 1)),
        ),
    }),
    prune: (before) => prune(before, createPruneStatements(link)),
    async ping() {
      await link.read('ping', () => undefined);
    },
    async close() {
      if (closed) return;
      await options.partialText?.close();
      await link.lease.close();
      closed = true;
      unsubscribe();
      waiters.close();
    },
  };
}

/** The lease of a process. */
export type ModelLease = Pick<LeaseLossListeners, 'onLost'> & {
  /** The token of the lease; starts a new lease if there is none. */
  readonly token: () => Promise<string>;
  readonly current: () => string | undefined;
  /** Forgets a lease that other processes have taken over, and calls the listeners. */
  readonly lose: (token: string) => void;
  readonly close: () => Promise<void>;
};

function createModelLease(state: StoreState, { name, port }: StoreProcess, link: () => StoreLink): ModelLease {
  let token: string | undefined;
  let starting: Promise<string> | undefined;
  let cancelTimer: (() => void) | undefined;
  const { onLost, notifyLost } = createLeaseLossListeners(() => token);

  function lose(lost: string): void {
    if (token === lost) token = undefined;
    notifyLost(lost);
  }

  function scheduleHeartbeat(): void {
    cancelTimer?.();
    cancelTimer = port.timer(Math.max(10, state.options.leaseMs / 4), () => {
      scheduleHeartbeat();
      const own = token;
      if (own === undefined) return;
      link()
        .write('lease heartbeat', () => state.renewLease(own), { durable: false, uncounted: true })
        .then(
          (isValid) => isValid || lose(own),
          // The next heartbeat may succeed; if none does, the lease expires.
          () => undefined,
        );
    });
  }

  async function start(): Promise<string> {
    try {
      const started = await link().write('start lease', () => {
        state.reapExpired(undefined);
        return state.startLease(name);
      });
      token = started;
      scheduleHeartbeat();
      return started;
    } finally {
      starting = undefined;
    }
  }

  return {
    onLost,
    lose,
    current: () => token,
    token: async () => token ?? (starting ??= start()),
    async close() {
      cancelTimer?.();
      const own = token;
      token = undefined;
      if (own !== undefined) await link().write('end lease', () => state.endLease(own), { uncounted: true });
    },
  };
}

function createPruneStatements({ state, write }: StoreLink): Parameters<typeof prune>[1] {
  const { runs, letters, reserved, spent, sessions } = state.tables;
  return {
    deleteRuns: (cutoff, limit) =>
      write('prune', () => {
        const all = runs.rows();
        const isKept = (parent: string | null): boolean =>
          parent !== null && (runs.get(parent)?.status ?? 'ended') !== 'ended';
        const old = all.filter(({ ended, parent }) => ended !== null && ended < cutoff.ms && !isKept(parent));
        for (const { id, session } of old.slice(0, limit)) {
          runs.remove(id);
          const entry = sessions.get(session);
          const isUsed = runs.rows().some((row) => row.session === session);
          if (entry && !isUsed && entry.holder === null && entry.updatedAt < cutoff.ms) sessions.remove(session);
        }
        return Math.min(limit, old.length);
      }),
    deleteRest: (cutoff) =>
      write('prune', () => {
        const open = new Set(runs.rows().flatMap(({ status, session }) => (status === 'ended' ? [] : [session])));
        for (const { position, time, session } of letters.rows())
          if (time < cutoff.ms && !open.has(session)) letters.remove(String(position));
        for (const [i, row] of reserved.rows().entries()) {
          if (row.day >= cutoff.day) continue;
          spent.set(`pruned ${cutoff.day} ${i} ${state.nextKey()}`, row);
        }
      }),
  };
}
