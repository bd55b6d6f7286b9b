// DBOS engine of this process: hands out the workflows of queued runs within the limits. A process has one engine, shared by its stores.
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { errorMessage, type QueueLimits } from '../../core/index.ts';
import { settlesWithin, closeTimeoutMs } from '../timeouts.ts';
import { endPool } from './close-connections.ts';
import { describeUrl, openPool } from './database.ts';
import { parsePostgresLocation } from './location.ts';
import { schemas } from './migrations.ts';
import { otherDatabaseError, toPostgresError } from './errors.ts';

/** A request for workflows: for which lease, of which version (of any if undefined), and how many. */
export type ClaimRequest = {
  readonly holder: string;
  readonly version: string | undefined;
  readonly maxRuns: number;
  readonly limits: QueueLimits;
  /** After an abort nothing is tried again. */
  readonly signal: AbortSignal;
};

/** Workflows that DBOS has handed to a lease; `claimToken` proves it. */
export type ClaimedWorkflows = { readonly workflows: readonly string[]; readonly claimToken: string };

/** DBOS after its launch. */
export type DbosEngine = {
  claim(request: ClaimRequest): Promise<ClaimedWorkflows>;
  /** Lets DBOS run claimed workflows: each calls its function in `bodies`, if it has one. After an abort it is not tried again. */
  run(claimed: ClaimedWorkflows, bodies: ReadonlyMap<string, () => Promise<void>>, signal: AbortSignal): Promise<void>;
  /** Releases the engine; DBOS is shut down with the last release. */
  release(): Promise<void>;
};

type LaunchedEngine = {
  readonly url: string;
  /** How many stores of this process use it. */
  users: number;
  readonly engine: Promise<Omit<DbosEngine, 'release'> & { end(): Promise<void> }>;
};

let launchedEngine: LaunchedEngine | undefined;
let pendingShutdown: Promise<void> = Promise.resolve();
let isRegistered = false;
const workflowBodies = new Map<string, () => Promise<void>>();

const silentLogger = { info() {}, debug() {}, warn() {}, error() {} };

/** DBOS is loaded only by a worker, or to create its tables. */
async function loadDbos() {
  // With DBOS__CLOUD set, DBOS would report to its cloud service.
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

/** Creates or migrates the tables of DBOS; must be called by one process at a time. */
export async function migrateDbos(url: string): Promise<void> {
  const { ensureSystemDatabase, GlobalLogger } = await loadDbos();
  const { pool } = await openPool(url, 2);
  try {
    const logger = new GlobalLogger(undefined, { logger: silentLogger });
    await ensureSystemDatabase(parsePostgresLocation(url).url, logger, pool, schemas.dbos, false);
  } finally {
    await endPool(pool);
  }
}

/** The engine of a database; the first call launches it. */
export async function acquireEngine(url: string): Promise<DbosEngine> {
  await pendingShutdown;
  if (launchedEngine && launchedEngine.url !== url) throw otherDatabaseError(describeUrl(url));
  const own = (launchedEngine ??= { url, users: 0, engine: launchEngine(url) });
  own.users += 1;
  const release = async (): Promise<void> => {
    own.users -= 1;
    if (own.users > 0 || launchedEngine !== own) return;
    launchedEngine = undefined;
    pendingShutdown = own.engine.then((engine) => engine.end()).catch(() => {});
    await pendingShutdown;
  };
  try {
    return { ...(await own.engine), release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** How long the launch and the shutdown of DBOS may take, in milliseconds. */
const launchMs = 30_000;
const shutdownMs = 5000;

/** The launch is tried again if another process that launches has deleted the version that this one had just written. */
const maxLaunchAttempts = 5;

async function launchEngine(url: string): Promise<Omit<DbosEngine, 'release'> & { end(): Promise<void> }> {
  const { DBOS, DBOSExecutor, WorkflowQueue, dbRetryConfig, runWithAbortableDbRetries } = await loadDbos();
  // DBOS reconnects within a second.
  dbRetryConfig.initialBackoffSec = 0.1;
  dbRetryConfig.maxBackoffSec = 1;
  // The record of the owner of a workflow need not survive a crash of the database server: the log and the row of the run have their own fences.
  const { pool } = await openPool(url, 8, { synchronous_commit: 'off' });
  if (!isRegistered) DBOS.registerWorkflow(runWorkflow, { name: 'run', maxRecoveryAttempts: 1_000_000 });
  isRegistered = true;
  DBOS.setConfig({
    name: 'fairlead',
    systemDatabaseUrl: parsePostgresLocation(url).url,
    systemDatabasePool: pool,
    systemDatabaseSchemaName: schemas.dbos,
    executorID: randomUUID(),
    applicationVersion: 'fairlead',
    logger: silentLogger,
    // The worker loop claims; DBOS must not poll the queue itself.
    listenQueues: [],
    useListenNotify: false,
    schedulerPollingIntervalMs: 3_600_000,
    runMigrations: false,
  });
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        // Without the timeout DBOS would wait forever for an unreachable database.
        await runWithAbortableDbRetries(AbortSignal.timeout(launchMs), () => DBOS.launch());
        break;
      } catch (error) {
        // An incomplete launch would block the next one.
        await settlesWithin(shutdownMs, DBOS.shutdown());
        if (attempt === maxLaunchAttempts || !errorMessage(error).includes('No application versions')) throw error;
      }
    }
    // DBOS gives unversioned runs only to the latest version; with no version recorded, any worker gets them. This may delete the version that another process has just written.
    await pool.query(`DELETE FROM ${schemas.dbos}.application_versions`);
  } catch (error) {
    await settlesWithin(shutdownMs, DBOS.shutdown());
    await endPool(pool);
    throw toPostgresError(error, describeUrl(url));
  }
  const executor = DBOSExecutor.globalInstance;
  if (!executor) throw new Error('DBOS did not start.');
  const database = executor.systemDatabase;

  const claim = (request: ClaimRequest): Promise<ClaimedWorkflows> =>
    runWithAbortableDbRetries(request.signal, () => claimWorkflows(request));

  async function claimWorkflows({ holder, version, maxRuns, limits }: ClaimRequest): Promise<ClaimedWorkflows> {
    const { concurrency, tenantConcurrency, rate } = limits;
    const bounds = {
      ...(concurrency === undefined ? {} : { globalConcurrency: concurrency }),
      ...(tenantConcurrency === undefined ? {} : { partitionConcurrency: tenantConcurrency }),
      ...(rate === undefined ? {} : { rateLimit: { limitPerPeriod: rate.runs, periodSec: rate.ms / 1000 } }),
    };
    const claimToken = randomUUID();
    const workflows: string[] = [];
    const versions = version === undefined ? await listQueuedVersions(pool) : [version];
    const find = async (tenant?: string): Promise<void> => {
      for (const each of versions) {
        if (workflows.length >= maxRuns) return;
        const params = { ...bounds, workerConcurrency: maxRuns - workflows.length };
        const queue = new WorkflowQueue(WorkflowQueue.recordFromParams('runs', params), false);
        workflows.push(
          ...(await database.findAndMarkStartableWorkflows(queue, holder, each, tenant, 0, 0, claimToken)),
        );
      }
    };
    const findAll = async (): Promise<void> => {
      if (tenantConcurrency === undefined) return find();
      for (const tenant of shuffle(await database.getQueuePartitions('runs')))
        if (workflows.length < maxRuns) await find(tenant);
    };
    await (Object.keys(bounds).length === 0 ? findAll() : withLimitsLock(pool, findAll));
    return { workflows, claimToken };
  }

  return {
    claim,
    async run({ workflows, claimToken }, bodies, signal) {
      for (const [workflow, body] of bodies) workflowBodies.set(workflow, body);
      await runWithAbortableDbRetries(signal, () => executor.dispatchDequeuedWorkflows([...workflows], claimToken));
    },
    async end() {
      await settlesWithin(shutdownMs, DBOS.shutdown({ workflowCompletionTimeoutMS: shutdownMs - closeTimeoutMs }));
      await endPool(pool);
    },
  };
}

/** The only workflow type: calls the function that the claiming worker has registered. */
async function runWorkflow(workflow: string): Promise<void> {
  const body = workflowBodies.get(workflow);
  workflowBodies.delete(workflow);
  await body?.();
}

/** DBOS requires a version; this value means none. */
const noVersion = '-';

/** The versions that have started queued runs. With each of them, DBOS also hands out runs that no version has started. */
async function listQueuedVersions(pool: Pool): Promise<readonly string[]> {
  const sql = `SELECT DISTINCT version FROM ${schemas.store}.runs WHERE status = 'queued' AND dispatched AND version IS NOT NULL`;
  const { rows } = await pool.query<{ version: string }>(sql);
  return rows.length === 0 ? [noVersion] : shuffle(rows.map(({ version }) => version));
}

/** Workers claim under a shared limit one at a time: two at once would exceed it, or both back off. */
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
    .map((item) => ({ item, order: Math.random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
