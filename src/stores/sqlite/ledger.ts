// Budget ledger of a SQLite store: an amount is reserved before it is spent, so that concurrent calls cannot exceed a budget.
import type { BudgetAmount, BudgetLedger } from '../../core/index.ts';
import {
  addAmounts,
  toTenantBudget,
  periodStart,
  budgetExceededReason,
  currentDay,
  type BudgetRow,
} from '../budget-row.ts';
import type { SqliteContext } from './context.ts';

/** The tables of what was spent and of what is reserved. */
const tables = { spent: 'spendings', reserved: 'holds' } as const;
type SumTable = (typeof tables)[keyof typeof tables];

/** The ledger of a store. */
export function createSqliteLedger(context: SqliteContext): BudgetLedger {
  function sum(table: SumTable, { tenant, period }: BudgetRow): BudgetAmount {
    const sql = `SELECT coalesce(sum(usd), 0) AS usd, coalesce(sum(tokens), 0) AS tokens FROM ${table} WHERE tenant = ? AND day >= ?`;
    return { usd: 0, tokens: 0, ...context.one<BudgetAmount>(sql, tenant, periodStart(period)) };
  }

  function reserve(tenant: string, id: string, { usd, tokens }: BudgetAmount): string | undefined {
    if (context.one('SELECT 1 FROM holds WHERE tenant = ? AND id = ?', tenant, id)) return undefined;
    const row = context.one<BudgetRow>('SELECT * FROM allowances WHERE tenant = ?', tenant);
    const used = row && addAmounts(sum(tables.spent, row), sum(tables.reserved, row));
    const reason = used && budgetExceededReason(row, used, { usd, tokens });
    if (reason !== undefined) return reason;
    const sql = 'INSERT INTO holds (tenant, id, day, usd, tokens) VALUES (?, ?, ?, ?, ?)';
    context.run(sql, tenant, id, currentDay(), usd, tokens);
    return undefined;
  }

  /** A second commit of the same id finds no reservation, and changes nothing. */
  function commit(tenant: string, id: string, { usd, tokens }: BudgetAmount): void {
    const sql = 'DELETE FROM holds WHERE tenant = ? AND id = ? RETURNING day';
    const reservation = context.one<{ day: string }>(sql, tenant, id);
    if (!reservation) return;
    context.run(
      `INSERT INTO spendings (tenant, day, usd, tokens) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT DO UPDATE SET usd = usd + ?3, tokens = tokens + ?4`,
      tenant,
      reservation.day,
      usd,
      tokens,
    );
  }

  return {
    budgets: async () =>
      context.read(() =>
        context.all<BudgetRow>('SELECT * FROM allowances ORDER BY tenant').map((row) => ({
          ...toTenantBudget(row),
          spent: sum(tables.spent, row),
          reserved: sum(tables.reserved, row),
        })),
      ),
    setBudget: ({ tenant, period, usd, tokens }) =>
      context.write(() => {
        context.run('DELETE FROM allowances WHERE tenant = ?', tenant);
        if (usd === undefined && tokens === undefined) return;
        const sql = 'INSERT INTO allowances (tenant, period, usd, tokens) VALUES (?, ?, ?, ?)';
        context.run(sql, tenant, period, usd ?? null, tokens ?? null);
      }),
    reserve: (tenant, id, amount) => context.write(() => reserve(tenant, id, amount)),
    // Not durable: if a power cut undoes it, the amount stays reserved.
    commit: (tenant, id, amount) => context.write(() => commit(tenant, id, amount), { durable: false }),
  };
}
