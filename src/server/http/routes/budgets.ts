// The routes of what tenants may spend.
import { z } from 'zod';
import { defineRoute, type Route } from '../route.ts';
import { apiSchemas } from '../schemas.ts';

const budgetListSchema = z.object({ allowances: z.array(apiSchemas.Allowance) });

/** The routes of what tenants may spend. */
export const budgetRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/budgets',
    role: 'reader',
    summary: 'What each tenant may spend, has spent and holds back.',
    responses: { 200: budgetListSchema },
    handle: async ({ context: { store } }) => ({ json: { allowances: await store.ledger.budgets() } }),
  }),
  defineRoute({
    method: 'put',
    path: '/api/budgets/{tenant}',
    role: 'operator',
    summary: 'Sets what a tenant may spend in a period; without a bound it is taken away.',
    schemas: {
      body: z.strictObject({
        period: z.enum(['day', 'month', 'ever']),
        usd: z.number().min(0).exactOptional(),
        tokens: z.number().int().min(0).exactOptional(),
      }),
    },
    responses: { 200: budgetListSchema },
    async handle({ context: { store }, params, body }) {
      await store.ledger.setBudget({ tenant: params['tenant'] ?? '', ...body });
      return { json: { allowances: await store.ledger.budgets() } };
    },
  }),
];
