// Takes runs for a worker: DBOS says which workflows are ours, our rows say what they are about.
import type { QueueLimits, WorkOptions } from '../../core/index.ts';
import { damagedRowOutcome, runRowError, type RunRow } from '../run-row.ts';
import type { PostgresContext } from './context.ts';
import type { ClaimedWorkflows, DbosEngine } from './engine.ts';
import { runColumns, decodePrompt, decodeFleetRun } from './runs.ts';
import type { RunClaim, RunCompleter } from './complete-runs.ts';

/** What a worker took: claims by the ids of their workflows. */
export type ClaimedRuns = { readonly claims: ReadonlyMap<string, RunClaim>; readonly claimToken: string };

/** Where runs are taken from. */
export type ClaimContext = {
  readonly base: PostgresContext;
  readonly engine: DbosEngine;
  readonly settling: RunCompleter;
};

const startRunsSql = `SELECT ${runColumns}, segment FROM fairlead.begin($1, $2, $3, $4, $5, $6)`;

/** Takes up to so many runs. What DBOS has given and may not be begun goes back to it. */
export async function claimPostgresRuns(
  { base, engine, settling }: ClaimContext,
  work: WorkOptions,
  demand: { readonly holder: string; readonly most: number; readonly limits: QueueLimits },
): Promise<ClaimedRuns> {
  const { holder } = demand;
  const claimed = await engine.claim({ ...demand, version: work.version, signal: work.signal });
  if (claimed.workflows.length === 0) return { claims: new Map(), claimToken: claimed.claimToken };
  let claims: ReadonlyMap<string, RunClaim> = new Map();
  try {
    claims = await startRuns({ base, settling }, work, holder, claimed);
  } finally {
    const rest = claimed.workflows.filter((workflow) => !claims.has(workflow));
    if (rest.length > 0) await releaseWorkflows(base, holder, rest);
  }
  return { claims, claimToken: claimed.claimToken };
}

async function startRuns(
  { base, settling }: Pick<ClaimContext, 'base' | 'settling'>,
  work: WorkOptions,
  holder: string,
  { workflows, claimToken }: ClaimedWorkflows,
): Promise<Map<string, RunClaim>> {
  const parts = workflows.map((workflow) => {
    const at = workflow.lastIndexOf('#');
    return { id: workflow.slice(0, at), segment: Number(workflow.slice(at + 1)) };
  });
  const rows = await base.db.all<RunRow & { readonly segment: number }>(startRunsSql, [
    parts.map(({ id }) => id),
    parts.map(({ segment }) => segment),
    claimToken,
    work.worker,
    holder,
    work.version ?? null,
  ]);
  const claims: [string, RunClaim][] = [];
  for (const row of rows) {
    const claim = { run: decodeFleetRun(row), key: row.key, holder, attempt: row.attempts, failures: row.failures };
    const flaw = runRowError(decodePrompt(row));
    if (flaw === undefined) claims.push([`${row.id}#${row.segment}`, claim]);
    else await settling.complete(claim, { type: 'ended', outcome: damagedRowOutcome(flaw) });
  }
  // In DBOS's order, which is that of the queue.
  const known = new Map(claims);
  return new Map(
    workflows.flatMap((workflow) => {
      const claim = known.get(workflow);
      return claim ? [[workflow, claim] as const] : [];
    }),
  );
}

/** Gives workflows back that were claimed and not begun. */
export async function releaseWorkflows(
  { db }: PostgresContext,
  holder: string,
  workflows: readonly string[],
): Promise<void> {
  await db.all('SELECT fairlead.unclaim($1, $2)', [workflows, holder]);
}

/** The workflows that DBOS has given to a holder. */
export async function listHeldWorkflows({ db }: PostgresContext, holder: string): Promise<readonly string[]> {
  const sql =
    "SELECT workflow_uuid AS id FROM fairlead_dbos.workflow_status WHERE executor_id = $1 AND status = 'PENDING'";
  return (await db.all<{ id: string }>(sql, [holder])).map(({ id }) => id);
}
