// Takes runs for a worker: DBOS says which workflows are ours, our rows say what they are about.
import type { QueueLimits, WorkOptions } from '../../core/index.ts';
import { damagedRun, flawIn, type RunRow } from '../run-row.ts';
import type { Base } from './base.ts';
import type { Claimed, Engine } from './engine.ts';
import { columns, readable, runIn } from './runs.ts';
import type { Claim, Settling } from './settling.ts';

/** What a worker took: claims by the ids of their workflows. */
export type Taken = { readonly claims: ReadonlyMap<string, Claim>; readonly claim: string };

/** Where runs are taken from. */
export type Source = { readonly base: Base; readonly engine: Engine; readonly settling: Settling };

const beginSql = `SELECT ${columns}, segment FROM fairlead.begin($1, $2, $3, $4, $5, $6)`;

/** Takes up to so many runs. What DBOS has given and may not be begun goes back to it. */
export async function take(
  { base, engine, settling }: Source,
  work: WorkOptions,
  demand: { readonly holder: string; readonly most: number; readonly limits: QueueLimits },
): Promise<Taken> {
  const { holder } = demand;
  const claimed = await engine.claim({ ...demand, version: work.version, signal: work.signal });
  if (claimed.workflows.length === 0) return { claims: new Map(), claim: claimed.claim };
  let claims: ReadonlyMap<string, Claim> = new Map();
  try {
    claims = await begin({ base, settling }, work, holder, claimed);
  } finally {
    const rest = claimed.workflows.filter((workflow) => !claims.has(workflow));
    if (rest.length > 0) await unclaim(base, holder, rest);
  }
  return { claims, claim: claimed.claim };
}

async function begin(
  { base, settling }: Pick<Source, 'base' | 'settling'>,
  work: WorkOptions,
  holder: string,
  { workflows, claim }: Claimed,
): Promise<Map<string, Claim>> {
  const parts = workflows.map((workflow) => {
    const at = workflow.lastIndexOf('#');
    return { id: workflow.slice(0, at), segment: Number(workflow.slice(at + 1)) };
  });
  const rows = await base.db.all<RunRow & { readonly segment: number }>(beginSql, [
    parts.map(({ id }) => id),
    parts.map(({ segment }) => segment),
    claim,
    work.worker,
    holder,
    work.version ?? null,
  ]);
  const claims: [string, Claim][] = [];
  for (const row of rows) {
    const claim = { run: runIn(row), key: row.key, holder, attempt: row.attempts, failures: row.failures };
    const flaw = flawIn(readable(row));
    if (flaw === undefined) claims.push([`${row.id}#${row.segment}`, claim]);
    else await settling.settle(claim, { type: 'ended', outcome: damagedRun(flaw) });
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
export async function unclaim({ db }: Base, holder: string, workflows: readonly string[]): Promise<void> {
  await db.all('SELECT fairlead.unclaim($1, $2)', [workflows, holder]);
}

/** The workflows that DBOS has given to a holder. */
export async function heldBy({ db }: Base, holder: string): Promise<readonly string[]> {
  const sql =
    "SELECT workflow_uuid AS id FROM fairlead_dbos.workflow_status WHERE executor_id = $1 AND status = 'PENDING'";
  return (await db.all<{ id: string }>(sql, [holder])).map(({ id }) => id);
}
