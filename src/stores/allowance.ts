// What an allowance is in a database, and when it refuses.
import type { TenantBudget, Amount } from '../core/index.ts';

/** An allowance as its row says. */
export type AllowanceRow = {
  readonly tenant: string;
  readonly period: TenantBudget['period'];
  readonly usd: number | null;
  readonly tokens: number | null;
};

/** Why an amount may not be held beside what is used, in a sentence; nothing where it may. */
export function refusal(row: AllowanceRow, used: Amount, amount: Amount): string | undefined {
  const { tenant } = row;
  const { usd, tokens } = used;
  if (row.usd !== null && usd + amount.usd > row.usd + 1e-9)
    return `${tenant} may spend $${row.usd} ${words[row.period]}: $${short(usd)} is spent or held, and this may cost $${short(amount.usd)}.`;
  if (row.tokens !== null && tokens + amount.tokens > row.tokens)
    return `${tenant} may use ${row.tokens} tokens ${words[row.period]}: ${tokens} are used or held, and this may take ${amount.tokens}.`;
  return undefined;
}

const words: Readonly<Record<TenantBudget['period'], string>> = { day: 'a day', month: 'a month', ever: 'in all' };
const short = (usd: number): string => String(Number(usd.toFixed(6)));
/** The day that is now, in UTC. */
export const today = (): string => new Date().toISOString().slice(0, 10);

/** The first day of the period that is now; what comes before it does not count. */
export function firstDay(period: TenantBudget['period']): string {
  if (period === 'ever') return '';
  return period === 'day' ? today() : `${today().slice(0, 7)}-01`;
}

/** An allowance as others see it. */
export const allowanceOf = ({ tenant, period, usd, tokens }: AllowanceRow): TenantBudget => ({
  tenant,
  period,
  ...(usd === null ? {} : { usd }),
  ...(tokens === null ? {} : { tokens }),
});
