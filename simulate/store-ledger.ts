// The budget ledger of the simulated store.
import type { BudgetAmount, BudgetLedger } from '../src/core/index.ts';
import { addAmounts, budgetExceededReason, toTenantBudget, type BudgetRow } from '../src/stores/budget-row.ts';
import type { StoreLink } from './store.ts';
import type { AmountEntry, Table } from './store-tables.ts';

/** Creates the ledger of a connection. */
export function createModelLedger({ state, read, write }: StoreLink): BudgetLedger {
  const { budgets, reserved, spent } = state.tables;
  const today = (): string => new Date(state.options.now()).toISOString().slice(0, 10);
  const periodStart = (period: BudgetRow['period']): string =>
    period === 'ever' ? '' : period === 'day' ? today() : `${today().slice(0, 7)}-01`;

  const sum = (table: Table<AmountEntry>, { tenant, period }: BudgetRow): BudgetAmount =>
    table
      .rows()
      .filter((row) => row.tenant === tenant && row.day >= periodStart(period))
      .reduce<BudgetAmount>(addAmounts, { usd: 0, tokens: 0 });

  return {
    budgets: () =>
      read('budgets', () =>
        budgets
          .rows()
          .toSorted((a, b) => (a.tenant < b.tenant ? -1 : 1))
          .map((row) => ({ ...toTenantBudget(row), spent: sum(spent, row), reserved: sum(reserved, row) })),
      ),
    setBudget: ({ tenant, period, usd, tokens }) =>
      write('set budget', () => {
        budgets.remove(tenant);
        if (usd === undefined && tokens === undefined) return;
        budgets.set(tenant, { tenant, period, usd: usd ?? null, tokens: tokens ?? null });
      }),
    reserve: (tenant, id, amount) =>
      write('reserve', () => {
        const key = `${tenant} ${id}`;
        if (reserved.get(key)) return undefined;
        const row = budgets.get(tenant);
        const used =
          row && addAmounts(sum(spent, row), state.isRemoved('reserved') ? { usd: 0, tokens: 0 } : sum(reserved, row));
        const reason = used && !state.isRemoved('budget') ? budgetExceededReason(row, used, amount) : undefined;
        if (reason === undefined) reserved.set(key, { tenant, day: today(), ...amount });
        return reason;
      }),
    commit: (tenant, id, amount) =>
      write(
        'commit',
        () => {
          const key = `${tenant} ${id}`;
          const reservation = reserved.get(key);
          if (!reservation) return;
          reserved.remove(key);
          const day = `${tenant} ${reservation.day}`;
          const before = spent.get(day) ?? { usd: 0, tokens: 0 };
          spent.set(day, { tenant, day: reservation.day, ...addAmounts(before, amount) });
        },
        { durable: false },
      ),
  };
}
