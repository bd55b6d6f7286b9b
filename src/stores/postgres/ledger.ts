// Budget ledger of a PostgreSQL store: an amount is reserved before it is spent, so that concurrent calls cannot exceed a budget.
import type { BudgetAmount, BudgetLedger } from '../../core/index.ts';
import {
  addAmounts,
  toTenantBudget,
  periodStart,
  budgetExceededReason,
  currentDay,
  type BudgetRow,
} from '../budget-row.ts';
import type { PostgresContext } from './context.ts';
import { createBatcher } from './batcher.ts';

const sumSql = (table: string): string =>
  `SELECT coalesce(sum(usd), 0) AS usd, coalesce(sum(tokens), 0) AS tokens FROM fairlead.${table} WHERE tenant = $1 AND day >= $2`;

const usageSql = `SELECT spent.usd AS spent_usd, spent.tokens AS spent_tokens, reserved.usd AS reserved_usd, reserved.tokens AS reserved_tokens
  FROM (${sumSql('spendings')}) AS spent, (${sumSql('holds')}) AS reserved`;

type UsageRow = {
  readonly spent_usd: number;
  readonly spent_tokens: number;
  readonly reserved_usd: number;
  readonly reserved_tokens: number;
};

const reserveSql = 'SELECT fairlead.hold($1, $2, $3, $4, $5, $6) AS reserved';

/**
 * Turns reservations into spending. Not durable: if a crash of the server undoes it, the amounts stay reserved, as after a crash of the caller.
 * So no transaction waits for the disk while it locks the row of a tenant's day, which all calls of the tenant need.
 */
const commitSql = `
WITH committed AS (
  DELETE FROM fairlead.holds
  USING unnest($1::text[], $2::text[], $3::double precision[], $4::double precision[]) AS used (tenant, id, usd, tokens),
    set_config('synchronous_commit', 'off', true)
  WHERE holds.tenant = used.tenant AND holds.id = used.id RETURNING holds.tenant, day, used.usd, used.tokens
)
INSERT INTO fairlead.spendings AS old (tenant, day, usd, tokens)
SELECT tenant, day, sum(usd), sum(tokens) FROM committed GROUP BY tenant, day ORDER BY tenant, day
ON CONFLICT (tenant, day) DO UPDATE SET usd = old.usd + excluded.usd, tokens = old.tokens + excluded.tokens`;

/** An amount of a tenant, with the id of its reservation. */
type Reservation = { readonly tenant: string; readonly id: string; readonly amount: BudgetAmount };

const toColumns = (entries: readonly Reservation[]): readonly [string[], string[], number[], number[]] => [
  entries.map(({ tenant }) => tenant),
  entries.map(({ id }) => id),
  entries.map(({ amount }) => amount.usd),
  entries.map(({ amount }) => amount.tokens),
];

/** The ledger of a store. */
export function createPostgresLedger({ db }: PostgresContext): BudgetLedger {
  async function readUsage({
    tenant,
    period,
  }: BudgetRow): Promise<{ readonly spent: BudgetAmount; readonly reserved: BudgetAmount }> {
    const row = await db.one<UsageRow>(usageSql, [tenant, periodStart(period)]);
    return {
      spent: { usd: row?.spent_usd ?? 0, tokens: row?.spent_tokens ?? 0 },
      reserved: { usd: row?.reserved_usd ?? 0, tokens: row?.reserved_tokens ?? 0 },
    };
  }

  async function findBudget(tenant: string): Promise<BudgetRow | undefined> {
    return db.one<BudgetRow>('SELECT tenant, period, usd, tokens FROM fairlead.allowances WHERE tenant = $1', [tenant]);
  }

  const sendReserve = createBatcher(async (entries: readonly Reservation[]) => {
    const sorted = entries.toSorted((a, b) => (a.tenant < b.tenant ? -1 : Number(a.tenant > b.tenant)));
    const days = [currentDay(), periodStart('month')] as const;
    const row = await db.one<{ reserved: readonly boolean[] }>(reserveSql, [...toColumns(sorted), ...days]);
    return entries.map((entry) => row?.reserved[sorted.indexOf(entry)] === true);
  });
  const sendCommit = createBatcher(async (entries: readonly Reservation[]) => {
    await db.all(commitSql, toColumns(entries));
    return entries.map(() => undefined);
  });

  async function reserve(tenant: string, id: string, amount: BudgetAmount): Promise<string | undefined> {
    if (await sendReserve({ tenant, id, amount })) return undefined;
    const budget = await findBudget(tenant);
    // The budget was removed meanwhile.
    if (!budget) return reserve(tenant, id, amount);
    const { spent, reserved } = await readUsage(budget);
    return budgetExceededReason(budget, addAmounts(spent, reserved), amount) ?? `${tenant} may not spend more now.`;
  }

  return {
    async budgets() {
      const rows = await db.all<BudgetRow>(
        'SELECT tenant, period, usd, tokens FROM fairlead.allowances ORDER BY tenant',
      );
      return Promise.all(rows.map(async (row) => ({ ...toTenantBudget(row), ...(await readUsage(row)) })));
    },
    async setBudget({ tenant, period, usd, tokens }) {
      const isRemoved = usd === undefined && tokens === undefined;
      const sql = isRemoved
        ? 'DELETE FROM fairlead.allowances WHERE tenant = $1'
        : `INSERT INTO fairlead.allowances (tenant, period, usd, tokens) VALUES ($1, $2, $3, $4)
           ON CONFLICT (tenant) DO UPDATE SET period = $2, usd = $3, tokens = $4`;
      await db.all(sql, isRemoved ? [tenant] : [tenant, period, usd ?? null, tokens ?? null]);
    },
    reserve,
    commit: (tenant, id, amount) => sendCommit({ tenant, id, amount }),
  };
}
