// Takes runs for a worker, and writes down what came of them: DBOS says which workflows are ours, our rows say what they are about.
import {
  messageOf,
  type FleetRun,
  type QueueLimits,
  type RunOutcome,
  type Settlement,
  type Work,
} from '../../core/index.ts';
import { damagedRun, delayAfter, flawIn, givenUp, mostFailures, type RunRow } from '../run-row.ts';
import type { Base } from './base.ts';
import type { Claimed, Engine } from './engine.ts';
import { columns, readable, runIn } from './runs.ts';

/** A run that was handed to this process: under which name, and as which of its attempts. */
export type Claim = {
  readonly run: FleetRun;
  readonly key: number;
  readonly holder: string;
  readonly attempt: number;
  readonly failures: number;
};

/** What a worker took: claims by the ids of their workflows. */
export type Taken = { readonly claims: ReadonlyMap<string, Claim>; readonly claim: string };

const beginSql = `SELECT ${columns}, segment FROM fairlead.begin($1, $2, $3, $4, $5, $6)`;

/** Takes up to so many runs. What DBOS has given and may not be begun goes back to it. */
export async function take(
  base: Base,
  engine: Engine,
  work: Work,
  demand: { readonly holder: string; readonly most: number; readonly limits: QueueLimits },
): Promise<Taken> {
  const { holder } = demand;
  const claimed = await engine.claim({ ...demand, version: work.version });
  if (claimed.workflows.length === 0) return { claims: new Map(), claim: claimed.claim };
  let claims: ReadonlyMap<string, Claim> = new Map();
  try {
    claims = await begin(base, work, holder, claimed);
  } finally {
    const rest = claimed.workflows.filter((workflow) => !claims.has(workflow));
    if (rest.length > 0) await unclaim(base, holder, rest);
  }
  return { claims, claim: claimed.claim };
}

async function begin(
  base: Base,
  work: Work,
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
    else await settle(base, claim, { type: 'ended', outcome: damagedRun(flaw) });
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

const settleSql = 'SELECT fairlead.settle($1, $2, $3, $4, $5, $6, $7, $8, $9) AS mine';

/** Writes down what came of a run; nothing where it is no longer this worker's. */
export async function settle({ db }: Base, claim: Claim, settlement: Settlement): Promise<void> {
  const head = [claim.key, claim.holder, claim.attempt] as const;
  if (settlement.type === 'ended') {
    await db.all(settleSql, [...head, 'ended', ...endOf(settlement.outcome), 0]);
    return;
  }
  const said = settlement.type === 'resting' ? JSON.stringify(settlement.questions) : null;
  await db.all(settleSql, [...head, settlement.type, said, null, 0, 0, 0]);
}

const endOf = (outcome: RunOutcome): readonly [string, string, number, number] => [
  JSON.stringify(outcome),
  outcome.reason,
  outcome.spent.usd,
  Math.round(outcome.spent.input + outcome.spent.output),
];

/** Puts a run back that could not be worked on, each time for longer, and ends it once it has failed too often. Gives how long it waits. */
export async function fail(base: Base, claim: Claim, thrown: unknown, retryMs: number): Promise<number> {
  const failures = claim.failures + 1;
  if (failures >= mostFailures) {
    await settle(base, claim, { type: 'ended', outcome: givenUp(failures, messageOf(thrown)) });
    return 0;
  }
  const delay = delayAfter(claim.failures, retryMs);
  await base.db.all(settleSql, [claim.key, claim.holder, claim.attempt, 'failed', null, null, 0, 0, delay]);
  return delay;
}
