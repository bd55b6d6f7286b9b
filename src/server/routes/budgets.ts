// The routes of what tenants may spend.
import { z } from 'zod';
import { route, type Route } from '../route.ts';
import { shapes } from '../schemas.ts';

const all = z.object({ allowances: z.array(shapes.Allowance) });

/** The routes of what tenants may spend. */
export const budgetRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/budgets',
    role: 'reader',
    summary: 'What each tenant may spend, has spent and holds back.',
    answers: { 200: all },
    handle: async ({ place: { store } }) => ({ json: { allowances: await store.ledger.budgets() } }),
  }),
  route({
    method: 'put',
    path: '/api/budgets/{tenant}',
    role: 'operator',
    summary: 'Sets what a tenant may spend in a period; without a bound it is taken away.',
    shapes: {
      body: z.strictObject({
        period: z.enum(['day', 'month', 'ever']),
        usd: z.number().min(0).exactOptional(),
        tokens: z.number().int().min(0).exactOptional(),
      }),
    },
    answers: { 200: all },
    async handle({ place: { store }, params, body }) {
      await store.ledger.setBudget({ tenant: params['tenant'] ?? '', ...body });
      return { json: { allowances: await store.ledger.budgets() } };
    },
  }),
];
