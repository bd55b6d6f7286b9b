// DBOS as this process has it: it hands the workflows of queued runs out, within the limits, and keeps who has which.
// DBOS is one for a process; all stores of the same database share it.
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { errorMessage, type QueueLimits } from '../../core/index.ts';
import { endPool, settlesWithin, closeTimeoutMs } from './timeouts.ts';
import { describeUrl, openPool } from './database.ts';
import { schemas } from './migrations.ts';
import { otherDatabaseError, toPostgresError } from './errors.ts';

/** What is asked of the queue: so many workflows, for whom, of which version or of any. */
export type ClaimRequest = {
  readonly holder: string;
  readonly version: string | undefined;
  readonly most: number;
  readonly limits: QueueLimits;
  /** Nothing is tried again once it aborts. */
  readonly signal: AbortSignal;
};

/** Workflows that DBOS has given to a holder; `claim` is the token they are his by. */
export type ClaimedWorkflows = { readonly workflows: readonly string[]; readonly claimToken: string };

/** DBOS, once it was launched. */
export type DbosEngine = {
  claim(demand: ClaimRequest): Promise<ClaimedWorkflows>;
  /** Has DBOS run what it has given: each workflow does what is said for it, or nothing. It is not tried again once the signal aborts. */
  run(claimed: ClaimedWorkflows, bodies: ReadonlyMap<string, () => Promise<void>>, signal: AbortSignal): Promise<void>;
  /** Lets go of it; with the last who does, DBOS ends. */
  release(): Promise<void>;
};

type LaunchedEngine = {
  readonly url: string;
  users: number;
  readonly engine: Promise<Omit<DbosEngine, 'release'> & { end(): Promise<void> }>;
};

let launchedEngine: LaunchedEngine | undefined;
let pendingShutdown: Promise<void> = Promise.resolve();
let isRegistered = false;
const workflowBodies = new Map<string, () => Promise<void>>();

const silentLogger = { info() {}, debug() {}, warn() {}, error() {} };

/** DBOS is loaded when somebody works on a queue, or makes one. */
async function loadDbos() {
  // It would turn on a mode that reports to a service.
  delete process.env['DBOS__CLOUD'];
  const [
    { DBOS },
    { DBOSExecutor },
    { WorkflowQueue },
    { ensureSystemDatabase },
    { dbRetryConfig },
    { GlobalLogger },
    { runWithAbortableDbRetries },
  ] = await Promise.all([
    import('@dbos-inc/dbos-sdk'),
    import('@dbos-inc/dbos-sdk/internal/dbos-executor'),
    import('@dbos-inc/dbos-sdk/internal/wfqueue'),
    import('@dbos-inc/dbos-sdk/internal/system_database'),
    import('@dbos-inc/dbos-sdk/internal/utils'),
    import('@dbos-inc/dbos-sdk/internal/telemetry/logs'),
    import('@dbos-inc/dbos-sdk/internal/context'),
  ]);
  return {
    DBOS,
    DBOSExecutor,
    WorkflowQueue,
    ensureSystemDatabase,
    dbRetryConfig,
    GlobalLogger,
    runWithAbortableDbRetries,
  };
}

/** Makes or updates the tables of DBOS; to be called by one process at a time. */
export async function migrateDbos(url: string): Promise<void> {
  const { ensureSystemDatabase, GlobalLogger } = await loadDbos();
  const pool = await openPool(url, { max: 2 });
  try {
    const logger = new GlobalLogger(undefined, { logger: silentLogger });
    await ensureSystemDatabase(url, logger, pool, schemas.dbos, false);
  } finally {
    await endPool(pool);
  }
}

/** The engine for a database, launched by the first who asks. */
export async function acquireEngine(url: string): Promise<DbosEngine> {
  await pendingShutdown;
  if (launchedEngine && launchedEngine.url !== url) throw otherDatabaseError(describeUrl(url));
  const mine = (launchedEngine ??= { url, users: 0, engine: launchEngine(url) });
  mine.users += 1;
  const release = async (): Promise<void> => {
    mine.users -= 1;
    if (mine.users > 0 || launchedEngine !== mine) return;
    launchedEngine = undefined;
    pendingShutdown = mine.engine.then((engine) => engine.end()).catch(() => {});
    await pendingShutdown;
  };
  try {
    return { ...(await mine.engine), release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Milliseconds in which DBOS starts or says why not, and in which it ends. */
const launchMs = 30_000;
const shutdownMs = 5000;

/** So often it is tried again where another process that starts took away what this one had just written. */
const maxLaunchAttempts = 5;

async function launchEngine(url: string): Promise<Omit<DbosEngine, 'release'> & { end(): Promise<void> }> {
  const { DBOS, DBOSExecutor, WorkflowQueue, dbRetryConfig, runWithAbortableDbRetries } = await loadDbos();
  // A database that comes back is noticed within a second.
  dbRetryConfig.initialBackoffSec = 0.1;
  dbRetryConfig.maxBackoffSec = 1;
  // Which workflow is whose may be forgotten in a crash of the server: whoever holds the log and the row of the run is fenced by those.
  const pool = await openPool(url, { max: 8, options: '-c synchronous_commit=off' });
  if (!isRegistered) DBOS.registerWorkflow(runWorkflow, { name: 'run', maxRecoveryAttempts: 1_000_000 });
  isRegistered = true;
  DBOS.setConfig({
    name: 'fairlead',
    systemDatabaseUrl: url,
    systemDatabasePool: pool,
    systemDatabaseSchemaName: schemas.dbos,
    executorID: randomUUID(),
    applicationVersion: 'fairlead',
    logger: silentLogger,
    // The queue is asked when there is reason to, not by the clock.
    listenQueues: [],
    useListenNotify: false,
    schedulerPollingIntervalMs: 3_600_000,
    runMigrations: false,
  });
  try {
    for (let tries = 1; ; tries++) {
      try {
        // By itself it would wait for a database that went away for ever.
        await runWithAbortableDbRetries(AbortSignal.timeout(launchMs), () => DBOS.launch());
        break;
      } catch (error) {
        // Half a launch would be in the way of the next.
        await settlesWithin(shutdownMs, DBOS.shutdown());
        if (tries === maxLaunchAttempts || !errorMessage(error).includes('No application versions')) throw error;
      }
    }
    // Where no version is the latest, a worker of any version takes runs that nobody has begun. Who launches just now may miss its own.
    await pool.query(`DELETE FROM ${schemas.dbos}.application_versions`);
  } catch (error) {
    await settlesWithin(shutdownMs, DBOS.shutdown());
    await endPool(pool);
    throw toPostgresError(error, describeUrl(url));
  }
  const executor = DBOSExecutor.globalInstance;
  if (!executor) throw new Error('DBOS did not start.');
  const database = executor.systemDatabase;

  const claim = (demand: ClaimRequest): Promise<ClaimedWorkflows> =>
    runWithAbortableDbRetries(demand.signal, () => claimFor(demand));

  async function claimFor({ holder, version, most, limits }: ClaimRequest): Promise<ClaimedWorkflows> {
    const { concurrency, tenantConcurrency, rate } = limits;
    const bounds = {
      ...(concurrency === undefined ? {} : { globalConcurrency: concurrency }),
      ...(tenantConcurrency === undefined ? {} : { partitionConcurrency: tenantConcurrency }),
      ...(rate === undefined ? {} : { rateLimit: { limitPerPeriod: rate.runs, periodSec: rate.ms / 1000 } }),
    };
    const claim = randomUUID();
    const workflows: string[] = [];
    const versions = version === undefined ? await listQueuedVersions(pool) : [version];
    const find = async (tenant?: string): Promise<void> => {
      for (const each of versions) {
        if (workflows.length >= most) return;
        const params = { ...bounds, workerConcurrency: most - workflows.length };
        const queue = new WorkflowQueue(WorkflowQueue.recordFromParams('runs', params), false);
        workflows.push(...(await database.findAndMarkStartableWorkflows(queue, holder, each, tenant, 0, 0, claim)));
      }
    };
    const sweep = async (): Promise<void> => {
      if (tenantConcurrency === undefined) return find();
      for (const tenant of shuffle(await database.getQueuePartitions('runs')))
        if (workflows.length < most) await find(tenant);
    };
    await (Object.keys(bounds).length === 0 ? sweep() : withLimitsLock(pool, sweep));
    return { workflows, claimToken: claim };
  }

  return {
    claim,
    async run({ workflows, claimToken }, given, signal) {
      for (const [workflow, body] of given) workflowBodies.set(workflow, body);
      await runWithAbortableDbRetries(signal, () => executor.dispatchDequeuedWorkflows([...workflows], claimToken));
    },
    async end() {
      await settlesWithin(shutdownMs, DBOS.shutdown({ workflowCompletionTimeoutMS: shutdownMs - closeTimeoutMs }));
      await endPool(pool);
    },
  };
}

/** The one workflow: what it does was said by who claimed it. */
async function runWorkflow(workflow: string): Promise<void> {
  const body = workflowBodies.get(workflow);
  workflowBodies.delete(workflow);
  await body?.();
}

/** Stands for no version where DBOS wants one. */
const noVersion = '-';

/** The versions that runs in the queue were begun by; with each, DBOS gives out those that nobody has begun. */
async function listQueuedVersions(pool: Pool): Promise<readonly string[]> {
  const sql = `SELECT DISTINCT version FROM ${schemas.ours}.runs WHERE status = 'queued' AND dispatched AND version IS NOT NULL`;
  const { rows } = await pool.query<{ version: string }>(sql);
  return rows.length === 0 ? [noVersion] : shuffle(rows.map(({ version }) => version));
}

/** A limit that all workers share is spent by one of them at a time: two at once would spend it twice, or both give way. */
async function withLimitsLock(pool: Pool, work: () => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended('fairlead limits', 0))");
    await work();
    await client.query('COMMIT');
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

function shuffle<T>(items: readonly T[]): readonly T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
