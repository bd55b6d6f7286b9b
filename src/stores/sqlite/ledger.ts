// What tenants may spend and have spent: an amount is held before it is spent, so that many at once cannot overspend.
import type { BudgetAmount, BudgetLedger } from '../../core/index.ts';
import { toTenantBudget, periodStart, budgetExceededReason, currentDay, type BudgetRow } from '../budget-row.ts';
import type { SqliteContext } from './context.ts';

/** The ledger of a store. */
export function createSqliteLedger(base: SqliteContext): BudgetLedger {
  function used(table: 'spendings' | 'holds', { tenant, period }: BudgetRow): BudgetAmount {
    const sql = `SELECT coalesce(sum(usd), 0) AS usd, coalesce(sum(tokens), 0) AS tokens FROM ${table} WHERE tenant = ? AND day >= ?`;
    return { usd: 0, tokens: 0, ...base.one<BudgetAmount>(sql, tenant, periodStart(period)) };
  }

  function all(row: BudgetRow): BudgetAmount {
    const [spent, held] = [used('spendings', row), used('holds', row)];
    return { usd: spent.usd + held.usd, tokens: spent.tokens + held.tokens };
  }

  function hold(tenant: string, id: string, { usd, tokens }: BudgetAmount): string | undefined {
    if (base.one('SELECT 1 FROM holds WHERE tenant = ? AND id = ?', tenant, id)) return undefined;
    const row = base.one<BudgetRow>('SELECT * FROM allowances WHERE tenant = ?', tenant);
    const why = row && budgetExceededReason(row, all(row), { usd, tokens });
    if (why !== undefined) return why;
    const sql = 'INSERT INTO holds (tenant, id, day, usd, tokens) VALUES (?, ?, ?, ?, ?)';
    base.run(sql, tenant, id, currentDay(), usd, tokens);
    return undefined;
  }

  /** Once: what is settled is no longer held, and settling it again finds nothing. */
  function settle(tenant: string, id: string, { usd, tokens }: BudgetAmount): void {
    const sql = 'DELETE FROM holds WHERE tenant = ? AND id = ? RETURNING day';
    const held = base.one<{ day: string }>(sql, tenant, id);
    if (!held) return;
    base.run(
      `INSERT INTO spendings (tenant, day, usd, tokens) VALUES (?1, ?2, ?3, ?4)
       ON CONFLICT DO UPDATE SET usd = usd + ?3, tokens = tokens + ?4`,
      tenant,
      held.day,
      usd,
      tokens,
    );
  }

  return {
    budgets: async () =>
      base.read(() =>
        base.all<BudgetRow>('SELECT * FROM allowances ORDER BY tenant').map((row) => ({
          ...toTenantBudget(row),
          spent: used('spendings', row),
          held: used('holds', row),
        })),
      ),
    setBudget: ({ tenant, period, usd, tokens }) =>
      base.write(() => {
        base.run('DELETE FROM allowances WHERE tenant = ?', tenant);
        if (usd === undefined && tokens === undefined) return;
        const sql = 'INSERT INTO allowances (tenant, period, usd, tokens) VALUES (?, ?, ?, ?)';
        base.run(sql, tenant, period, usd ?? null, tokens ?? null);
      }),
    reserve: (tenant, id, amount) => base.write(() => hold(tenant, id, amount)),
    // Not synced: where a power cut undoes it, the amount stays held as it was.
    commit: (tenant, id, amount) => base.write(() => settle(tenant, id, amount), { settle: false }),
  };
}
