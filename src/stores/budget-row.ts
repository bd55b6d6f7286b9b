// What an allowance is in a database, and when it refuses.
import type { TenantBudget, BudgetAmount } from '../core/index.ts';

/** An allowance as its row says. */
export type BudgetRow = {
  readonly tenant: string;
  readonly period: TenantBudget['period'];
  readonly usd: number | null;
  readonly tokens: number | null;
};

/** Why an amount may not be held beside what is used, in a sentence; nothing where it may. */
export function budgetExceededReason(row: BudgetRow, used: BudgetAmount, amount: BudgetAmount): string | undefined {
  const { tenant } = row;
  const { usd, tokens } = used;
  if (row.usd !== null && usd + amount.usd > row.usd + 1e-9)
    return `${tenant} may spend $${row.usd} ${periodText[row.period]}: $${formatShortUsd(usd)} is spent or held, and this may cost $${formatShortUsd(amount.usd)}.`;
  if (row.tokens !== null && tokens + amount.tokens > row.tokens)
    return `${tenant} may use ${row.tokens} tokens ${periodText[row.period]}: ${tokens} are used or held, and this may take ${amount.tokens}.`;
  return undefined;
}

const periodText: Readonly<Record<TenantBudget['period'], string>> = { day: 'a day', month: 'a month', ever: 'in all' };
const formatShortUsd = (usd: number): string => String(Number(usd.toFixed(6)));
/** The day that is now, in UTC. */
export const currentDay = (): string => new Date().toISOString().slice(0, 10);

/** The first day of the period that is now; what comes before it does not count. */
export function periodStart(period: TenantBudget['period']): string {
  if (period === 'ever') return '';
  return period === 'day' ? currentDay() : `${currentDay().slice(0, 7)}-01`;
}

/** An allowance as others see it. */
export const toTenantBudget = ({ tenant, period, usd, tokens }: BudgetRow): TenantBudget => ({
  tenant,
  period,
  ...(usd === null ? {} : { usd }),
  ...(tokens === null ? {} : { tokens }),
});
