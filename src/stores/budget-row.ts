// Tenant budgets in database rows, and the check whether an amount exceeds one.
import type { TenantBudget, BudgetAmount } from '../core/index.ts';

/** A budget in the database. */
export type BudgetRow = {
  readonly tenant: string;
  readonly period: TenantBudget['period'];
  readonly usd: number | null;
  readonly tokens: number | null;
};

/** The sum of two amounts. */
export const addAmounts = (a: BudgetAmount, b: BudgetAmount): BudgetAmount => ({
  usd: a.usd + b.usd,
  tokens: a.tokens + b.tokens,
});

/** Why an amount may not be reserved in addition to what is used; undefined if it may. */
export function budgetExceededReason(row: BudgetRow, used: BudgetAmount, amount: BudgetAmount): string | undefined {
  const { tenant } = row;
  const { usd, tokens } = used;
  if (row.usd !== null && usd + amount.usd > row.usd + 1e-9)
    return `${tenant} may spend $${row.usd} ${periodText[row.period]}: $${formatShortUsd(usd)} is spent or reserved, and this call may cost $${formatShortUsd(amount.usd)}.`;
  if (row.tokens !== null && tokens + amount.tokens > row.tokens)
    return `${tenant} may use ${row.tokens} tokens ${periodText[row.period]}: ${tokens} are used or reserved, and this call may use ${amount.tokens}.`;
  return undefined;
}

const periodText: Readonly<Record<TenantBudget['period'], string>> = { day: 'a day', month: 'a month', ever: 'in all' };
const formatShortUsd = (usd: number): string => String(Number(usd.toFixed(6)));

/** The current day in UTC. */
export const currentDay = (): string => new Date().toISOString().slice(0, 10);

/** The first day of the current period; earlier spending does not count. */
export function periodStart(period: TenantBudget['period']): string {
  if (period === 'ever') return '';
  return period === 'day' ? currentDay() : `${currentDay().slice(0, 7)}-01`;
}

/** The budget of a row. */
export const toTenantBudget = ({ tenant, period, usd, tokens }: BudgetRow): TenantBudget => ({
  tenant,
  period,
  ...(usd === null ? {} : { usd }),
  ...(tokens === null ? {} : { tokens }),
});
