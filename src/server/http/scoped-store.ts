// The view of a fleet store that the handlers of one client get: with a tenant, only what belongs to that tenant; text into a run needs the role that could have started it.
import {
  defaultTenant,
  type BudgetLedger,
  type FleetRun,
  type FleetSessionStore,
  type FleetStore,
  type Inbox,
  type KillSwitch,
  type Log,
  type NewRun,
  type QueueDepth,
  type RunFilter,
  type RunQueue,
  type RunStats,
  type Schedule,
  type SessionInfo,
  type WorkerInfo,
  type WorkerRegistry,
} from '../../core/index.ts';
import { findAutoRun } from '../../fleet/index.ts';
import { withOfferedScopes } from './approval-scopes.ts';
import { createHttpError } from './errors.ts';
import { assertMayInstruct, type RunAuthority } from './run-authority.ts';
import { createScopedNames, type ScopedNames } from './scoped-names.ts';

/** The queue as one client sees it. */
export type ScopedQueue = Pick<RunQueue, 'enqueue' | 'wake' | 'cancel' | 'run' | 'list' | 'limits' | 'setLimits'> & {
  depth(): Promise<QueueDepth>;
  stats(from: string, to: string, bucketMs: number): Promise<readonly RunStats[]>;
  schedules(): Promise<readonly Schedule[]>;
  /** Adds or replaces a schedule, and returns it with its name in the store. */
  saveSchedule(schedule: Schedule): Promise<Schedule>;
  /** Removes a schedule; throws 404 if there is none. */
  removeSchedule(name: string): Promise<void>;
};

/** The sessions as one client sees them. */
export type ScopedSessions = Pick<FleetSessionStore, 'reader' | 'list'> & {
  find(session: string): Promise<SessionInfo | undefined>;
  /** Opens an existing session to change its history; throws 403 if one of its runs has more rights than the client. */
  open(session: string): Promise<Log>;
  /** Creates a session of the client's tenant, or of the given one if the client has none. */
  create(tenant?: string): Promise<{ readonly session: string; readonly log: Log }>;
};

/** A fleet store as one client sees it. A `FleetStore` is not assignable to it, so that no handler can get one. */
export type ScopedStore = {
  readonly description: string;
  readonly queue: ScopedQueue;
  readonly sessions: ScopedSessions;
  readonly inbox: Pick<Inbox, 'send' | 'read' | 'clear'>;
  readonly killSwitch: KillSwitch;
  readonly ledger: Pick<BudgetLedger, 'budgets' | 'setBudget'>;
  readonly workers: Pick<WorkerRegistry, 'list'>;
  readonly names: Pick<ScopedNames, 'findSession'>;
  /** Returns a run with the tenant and the names that it gets in the store; throws if the client may not start it there. */
  scopeRun(run: NewRun): Promise<NewRun>;
  /** Throws 403 for a key with a tenant: the setting concerns all tenants. */
  assertWholeFleet(): void;
  ping(): Promise<void>;
};

const holder = { holder: 'server' } as const;

/** Creates the view of a store for a client. */
export function createScopedStore(store: FleetStore, authority: RunAuthority): ScopedStore {
  const { tenant } = authority.caller;
  const names = createScopedNames(store, tenant);
  const scopeRun = createRunScoper(store, authority, names);

  /** Throws 403 for a key with a tenant: the setting concerns all tenants. */
  function assertWholeFleet(): void {
    if (tenant !== undefined)
      throw createHttpError('server/role', 'This concerns all tenants. It needs a key without a tenant.');
  }

  return {
    description: store.description,
    names,
    scopeRun,
    queue: withOfferedScopes(
      createScopedQueue(store, tenant, names, { scopeRun, assertWholeFleet, quota: authority.quota }),
      authority.canKeepPermissions === true,
    ),
    sessions: createScopedSessions(store, authority, names),
    inbox: {
      async send(name, message) {
        const { session } = await names.requireSession(name);
        if (message.type === 'cancel' || message.type === 'ended') return store.inbox.send(session, message);
        const runs = await listInstructedRuns(store, session);
        await assertMayInstruct(authority, runs);
        // The session may get another run before the message is read: that run must not obey it.
        const target = runs.filter(({ status }) => status !== 'ended').toReversed();
        const run = (target.find(({ started }) => started !== undefined) ?? target[0])?.id;
        return store.inbox.send(session, run === undefined ? message : { ...message, run });
      },
      async read(name, after) {
        return store.inbox.read((await names.requireSession(name)).session, after);
      },
      async clear(name, upTo) {
        await store.inbox.clear((await names.requireSession(name)).session, upTo);
      },
    },
    killSwitch: {
      status: () => store.killSwitch.status(),
      async stop(reason, by) {
        assertWholeFleet();
        return store.killSwitch.stop(reason, by);
      },
      async resume(by) {
        assertWholeFleet();
        return store.killSwitch.resume(by);
      },
    },
    ledger: {
      budgets: async () => (await store.ledger.budgets()).filter((budget) => names.isVisible(budget.tenant)),
      async setBudget(budget) {
        assertWholeFleet();
        await store.ledger.setBudget(budget);
      },
    },
    assertWholeFleet,
    workers: { list: () => listScopedWorkers(store, tenant) },
    ping: () => store.ping(),
  };
}

/** Returns the latest run of a session, those that have not ended, and one with `auto: true` if there ever was one: text in the session reaches them or the runs that follow. */
async function listInstructedRuns({ queue }: Pick<FleetStore, 'queue'>, session: string): Promise<readonly FleetRun[]> {
  const runs = await queue.list({ session });
  const auto = await findAutoRun(queue, session);
  const open = runs.filter(({ status }, i) => i === 0 || status !== 'ended');
  return auto === undefined || open.some(({ id }) => id === auto.id) ? open : [...open, auto];
}

/** Creates the function that puts new runs into the scope of a client. */
function createRunScoper(
  store: FleetStore,
  authority: RunAuthority,
  names: ScopedNames,
): (run: NewRun) => Promise<NewRun> {
  const { caller } = authority;

  type SessionScope = Pick<NewRun, 'session' | 'tenant'>;
  const pending = new Map<string, Promise<SessionScope>>();

  /** Many runs of one request may name the same session: they share one read of its runs. */
  function scopeSession(name: string, tenant: string | undefined): Promise<SessionScope> {
    const key = JSON.stringify([name, tenant]);
    const reading = pending.get(key) ?? readSessionScope(name, tenant).finally(() => pending.delete(key));
    pending.set(key, reading);
    return reading;
  }

  async function readSessionScope(name: string, tenant: string | undefined): Promise<SessionScope> {
    const found = await names.findSession(name);
    const owner = tenant ?? found?.tenant;
    const scoped = owner === undefined ? {} : { tenant: owner };
    if (!found) return { session: names.qualify(name), ...scoped };
    await assertMayInstruct(authority, await listInstructedRuns(store, found.session));
    if (found.tenant !== undefined && found.tenant !== owner)
      throw createHttpError('server/conflict', `The session ${name} belongs to the tenant ${found.tenant}.`, {
        hint: 'Omit the tenant, or start the run without a session.',
      });
    return { session: found.session, ...scoped };
  }

  return async ({ tenant: requested, ...run }) => {
    const { tenant = requested } = caller;
    if (requested !== undefined && requested !== tenant)
      throw createHttpError('server/role', `This key may start runs for the tenant ${tenant} only.`);
    const parent = run.parent === undefined ? undefined : await names.findRun(run.parent);
    if (run.parent !== undefined && !parent && caller.tenant !== undefined)
      throw createHttpError('server/not-found', `Run not found: ${run.parent}.`);
    return {
      ...run,
      ...(tenant === undefined ? {} : { tenant }),
      ...(run.id === undefined ? {} : { id: (await names.findRun(run.id))?.id ?? names.qualify(run.id) }),
      ...(parent ? { parent: parent.id } : {}),
      ...(run.session === undefined ? {} : await scopeSession(run.session, tenant)),
    };
  };
}

type QueueGuards = Pick<RunAuthority, 'quota'> & {
  readonly scopeRun: ScopedStore['scopeRun'];
  readonly assertWholeFleet: () => void;
};

function createScopedQueue(
  { queue }: FleetStore,
  tenant: string | undefined,
  names: ScopedNames,
  { scopeRun, assertWholeFleet, quota }: QueueGuards,
): ScopedQueue {
  const findSchedule = async (name: string): Promise<Schedule | undefined> => {
    const visible = (await queue.schedules()).filter(({ run }) => names.isVisible(run.tenant ?? defaultTenant));
    return visible.find((each) => each.name === name) ?? visible.find((each) => each.name === names.qualify(name));
  };

  async function scopeFilter({ session, parent, before, ...filter }: RunFilter): Promise<RunFilter> {
    const findId = async (id: string): Promise<string> => (await names.findRun(id))?.id ?? names.qualify(id);
    return {
      ...filter,
      ...(tenant === undefined ? {} : { tenant }),
      ...(session === undefined
        ? {}
        : { session: (await names.findSession(session))?.session ?? names.qualify(session) }),
      ...(parent === undefined ? {} : { parent: await findId(parent) }),
      ...(before === undefined ? {} : { before: await findId(before) }),
    };
  }

  return {
    async enqueue(runs) {
      const scoped = await Promise.all(runs.map(scopeRun));
      await quota(scoped);
      const queued = await queue.enqueue(scoped);
      const foreign = queued.find((run) => !names.isVisible(run.tenant));
      if (foreign) throw createHttpError('server/conflict', `The id ${foreign.id} is taken by another run.`);
      return queued;
    },
    async wake(id) {
      const run = await names.findRun(id);
      if (run) await queue.wake(run.id);
    },
    async cancel(id, detail) {
      const run = await names.findRun(id);
      return run && queue.cancel(run.id, detail);
    },
    run: (id) => names.findRun(id),
    async list(filter = {}) {
      return filter.tenant === undefined || names.isVisible(filter.tenant) ? queue.list(await scopeFilter(filter)) : [];
    },
    depth: () => queue.depth(tenant),
    stats: (from, to, bucketMs) => queue.stats(from, to, bucketMs, tenant),
    limits: () => queue.limits(),
    async setLimits(limits) {
      assertWholeFleet();
      await queue.setLimits(limits);
    },
    schedules: async () => (await queue.schedules()).filter(({ run }) => names.isVisible(run.tenant ?? defaultTenant)),
    async saveSchedule({ name, cron, run }) {
      const scoped: NewRun = await scopeRun(run);
      const schedule = { name: (await findSchedule(name))?.name ?? names.qualify(name), cron, run: scoped };
      await queue.setSchedule(schedule);
      return schedule;
    },
    async removeSchedule(name) {
      const found = await findSchedule(name);
      if (!found) throw createHttpError('server/not-found', `Schedule not found: ${name}.`);
      await queue.setSchedule({ name: found.name });
    },
  };
}

function createScopedSessions(store: FleetStore, authority: RunAuthority, names: ScopedNames): ScopedSessions {
  const { sessions } = store;
  const { tenant } = authority.caller;
  return {
    async reader(name) {
      return sessions.reader((await names.requireSession(name)).session);
    },
    async find(name) {
      const found = await names.findSession(name);
      return found && sessions.find(found.session);
    },
    async list({ before, ...options } = {}) {
      const last =
        before === undefined ? undefined : ((await names.findSession(before))?.session ?? names.qualify(before));
      return sessions.list({
        ...options,
        ...(last === undefined ? {} : { before: last }),
        ...(tenant === undefined ? {} : { tenant }),
      });
    },
    async open(name) {
      const { session } = await names.requireSession(name);
      await assertMayInstruct(authority, await listInstructedRuns(store, session));
      return sessions.open(session, holder);
    },
    async create(requested) {
      const session = crypto.randomUUID();
      const owner = tenant ?? requested;
      const log = await sessions.open(session, { ...holder, ...(owner === undefined ? {} : { tenant: owner }) });
      return { session, log };
    },
  };
}

/** A tenant sees which workers are alive and how many of its own runs they have, not where they run or what else they do. */
async function listScopedWorkers(
  { workers, queue }: Pick<FleetStore, 'workers' | 'queue'>,
  tenant: string | undefined,
): Promise<readonly WorkerInfo[]> {
  const listed = await workers.list();
  if (tenant === undefined) return listed;
  const own = await queue.list({ status: 'running', tenant });
  return listed.map((worker) => ({
    ...worker,
    host: '',
    pid: 0,
    running: own.filter((run) => run.worker === worker.worker).length,
    info: {},
  }));
}
