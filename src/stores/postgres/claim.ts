// Claims runs in PostgreSQL: DBOS hands out workflows, and the rows of the queue say which runs they belong to.
import type { QueueLimits, WorkOptions } from '../../core/index.ts';
import { damagedRowOutcome, runRowError, type RunRow } from '../run-row.ts';
import type { PostgresContext } from './context.ts';
import type { PostgresRunClaim, RunCompleter } from './complete-runs.ts';
import type { ClaimedWorkflows, DbosEngine } from './dbos-engine.ts';
import { runColumns, decodePrompt, decodeFleetRun } from './runs.ts';

/** The claimed runs by workflow id, and the token of the claim. */
export type ClaimedRuns = { readonly claims: ReadonlyMap<string, PostgresRunClaim>; readonly claimToken: string };

/** What claiming needs. */
export type ClaimContext = {
  readonly context: PostgresContext;
  readonly engine: DbosEngine;
  readonly completer: RunCompleter;
};

/** Each dispatch of a run creates a DBOS workflow: `segment` numbers the workflows of a run from 1, and the workflow id is `<run id>#<segment>`. */
const startRunsSql = `SELECT ${runColumns}, segment FROM fairlead.begin($1, $2, $3, $4, $5, $6)`;

/** Claims up to `maxRuns` runs. Workflows that may not be started are released. */
export async function claimPostgresRuns(
  { context, engine, completer }: ClaimContext,
  work: WorkOptions,
  request: { readonly holder: string; readonly maxRuns: number; readonly limits: QueueLimits },
): Promise<ClaimedRuns> {
  const { holder } = request;
  const claimed = await engine.claim({ ...request, version: work.version, signal: work.signal });
  if (claimed.workflows.length === 0) return { claims: new Map(), claimToken: claimed.claimToken };
  let claims: ReadonlyMap<string, PostgresRunClaim> = new Map();
  try {
    claims = await startRuns({ context, completer }, work, holder, claimed);
  } finally {
    const unclaimed = claimed.workflows.filter((workflow) => !claims.has(workflow));
    if (unclaimed.length > 0) await releaseWorkflows(context, holder, unclaimed);
  }
  return { claims, claimToken: claimed.claimToken };
}

async function startRuns(
  { context, completer }: Pick<ClaimContext, 'context' | 'completer'>,
  work: WorkOptions,
  holder: string,
  { workflows, claimToken }: ClaimedWorkflows,
): Promise<Map<string, PostgresRunClaim>> {
  const parts = workflows.map((workflow) => {
    const separator = workflow.lastIndexOf('#');
    return { id: workflow.slice(0, separator), segment: Number(workflow.slice(separator + 1)) };
  });
  const rows = await context.db.all<RunRow & { readonly segment: number }>(startRunsSql, [
    parts.map(({ id }) => id),
    parts.map(({ segment }) => segment),
    claimToken,
    work.worker,
    holder,
    work.version ?? null,
  ]);
  const claims = new Map<string, PostgresRunClaim>();
  for (const row of rows) {
    const claim = { run: decodeFleetRun(row), key: row.key, holder, attempt: row.attempts, failures: row.failures };
    const problem = runRowError(decodePrompt(row));
    if (problem === undefined) claims.set(`${row.id}#${row.segment}`, claim);
    else await completer.complete(claim, { type: 'completed', outcome: damagedRowOutcome(problem) });
  }
  // In the order of DBOS, which is that of the queue.
  return new Map(
    workflows.flatMap((workflow) => {
      const claim = claims.get(workflow);
      return claim ? [[workflow, claim] as const] : [];
    }),
  );
}

/** Returns workflows to the queue of DBOS that were claimed and not started. */
export async function releaseWorkflows(
  { db }: PostgresContext,
  holder: string,
  workflows: readonly string[],
): Promise<void> {
  await db.all('SELECT fairlead.unclaim($1, $2)', [workflows, holder]);
}

/** The workflows that DBOS has handed to a lease. */
export async function listHeldWorkflows({ db }: PostgresContext, holder: string): Promise<readonly string[]> {
  const sql =
    "SELECT workflow_uuid AS id FROM fairlead_dbos.workflow_status WHERE executor_id = $1 AND status = 'PENDING'";
  return (await db.all<{ id: string }>(sql, [holder])).map(({ id }) => id);
}
