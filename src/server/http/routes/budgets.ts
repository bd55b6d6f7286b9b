// HTTP routes of tenant budgets.
import { z } from 'zod';
import { defineRoute, type Route } from '../route.ts';
import { apiSchemas } from '../schemas.ts';

const budgetListSchema = z.object({ budgets: z.array(apiSchemas.Budget) });

/** The routes of tenant budgets. */
export const budgetRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/budgets',
    role: 'reader',
    summary: 'The budget of each tenant, with what is spent and what is reserved for calls in progress.',
    responses: { 200: budgetListSchema },
    handle: async ({ context: { store } }) => ({ json: { budgets: await store.ledger.budgets() } }),
  }),
  defineRoute({
    method: 'put',
    path: '/api/budgets/{tenant}',
    role: 'operator',
    summary: 'Sets the budget of a tenant for a period; without `usd` and `tokens` the budget is removed.',
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
      return { json: { budgets: await store.ledger.budgets() } };
    },
  }),
];
