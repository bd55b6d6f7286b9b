// What tenants may spend and have spent: an amount is held before it is spent, so that many at once cannot overspend.
import type { Amount, Ledger } from '../../core/index.ts';
import { allowanceOf, firstDay, refusal, today, type AllowanceRow } from '../allowance.ts';
import type { Base } from './base.ts';

const sums = (table: string): string =>
  `SELECT coalesce(sum(usd), 0) AS usd, coalesce(sum(tokens), 0) AS tokens FROM fairlead.${table} WHERE tenant = $1 AND day >= $2`;

const usedSql = `SELECT spent.usd AS spent_usd, spent.tokens AS spent_tokens, held.usd AS held_usd, held.tokens AS held_tokens
  FROM (${sums('spendings')}) AS spent, (${sums('holds')}) AS held`;

type UsedRow = {
  readonly spent_usd: number;
  readonly spent_tokens: number;
  readonly held_usd: number;
  readonly held_tokens: number;
};

/** Holds where the allowance is still what it was read as and has room; the row of the allowance is the lock under which all holds of a tenant come one by one. */
const holdSql = `
WITH allowed AS (SELECT usd, tokens FROM fairlead.allowances WHERE tenant = $1 FOR UPDATE)
INSERT INTO fairlead.holds (tenant, id, day, usd, tokens)
SELECT $1, $2, $3, $4, $5 FROM (SELECT) AS one LEFT JOIN allowed ON true
WHERE allowed IS NULL OR fairlead.has_room($1, $6, $4, $5, allowed.usd, allowed.tokens)
ON CONFLICT (tenant, id) DO NOTHING RETURNING id`;

const settleSql = `
WITH held AS (DELETE FROM fairlead.holds WHERE tenant = $1 AND id = $2 RETURNING day)
INSERT INTO fairlead.spendings AS old (tenant, day, usd, tokens) SELECT $1, day, $3, $4 FROM held
ON CONFLICT (tenant, day) DO UPDATE SET usd = old.usd + $3, tokens = old.tokens + $4`;

/** The ledger of a store. */
export function ledgerOf({ db }: Base): Ledger {
  async function used({ tenant, period }: AllowanceRow): Promise<{ readonly spent: Amount; readonly held: Amount }> {
    const row = await db.one<UsedRow>(usedSql, [tenant, firstDay(period)]);
    return {
      spent: { usd: row?.spent_usd ?? 0, tokens: row?.spent_tokens ?? 0 },
      held: { usd: row?.held_usd ?? 0, tokens: row?.held_tokens ?? 0 },
    };
  }

  async function allowance(tenant: string): Promise<AllowanceRow | undefined> {
    return db.one<AllowanceRow>('SELECT tenant, period, usd, tokens FROM fairlead.allowances WHERE tenant = $1', [
      tenant,
    ]);
  }

  return {
    async allowances() {
      const rows = await db.all<AllowanceRow>(
        'SELECT tenant, period, usd, tokens FROM fairlead.allowances ORDER BY tenant',
      );
      return Promise.all(rows.map(async (row) => ({ ...allowanceOf(row), ...(await used(row)) })));
    },
    async allow({ tenant, period, usd, tokens }) {
      const gone = usd === undefined && tokens === undefined;
      const sql = gone
        ? 'DELETE FROM fairlead.allowances WHERE tenant = $1'
        : `INSERT INTO fairlead.allowances (tenant, period, usd, tokens) VALUES ($1, $2, $3, $4)
           ON CONFLICT (tenant) DO UPDATE SET period = $2, usd = $3, tokens = $4`;
      await db.all(sql, gone ? [tenant] : [tenant, period, usd ?? null, tokens ?? null]);
    },
    async hold(tenant, id, amount) {
      const row = await allowance(tenant);
      const from = row ? firstDay(row.period) : '';
      if (await db.one(holdSql, [tenant, id, today(), amount.usd, amount.tokens, from])) return undefined;
      if (await db.one('SELECT 1 FROM fairlead.holds WHERE tenant = $1 AND id = $2', [tenant, id])) return undefined;
      const now = (await allowance(tenant)) ?? row;
      if (!now) return undefined;
      const { spent, held } = await used(now);
      const all = { usd: spent.usd + held.usd, tokens: spent.tokens + held.tokens };
      return refusal(now, all, amount) ?? `${tenant} may spend no more at this moment.`;
    },
    async settle(tenant, id, { usd, tokens }) {
      await db.all(settleSql, [tenant, id, usd, tokens]);
    },
  };
}
