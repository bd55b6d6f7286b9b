// HTTP routes of the fleet: queue, workers, limits, schedules, kill switch and budgets, and of the caller.
import { z } from 'zod';
import { readKillSwitchStatus, authorizeRun } from '../runs.ts';
import { defineRoute, type Route } from '../route.ts';
import { apiSchemas, recurringRunSchema } from '../schemas.ts';
import { createHttpError } from '../errors.ts';
import { hasRole } from '../keys.ts';

const depthSchema = z.object({
  queued: z.number(),
  running: z.number(),
  waiting: z.number(),
  oldest: z.string().optional(),
});

/** The routes of the queue, its workers and its schedules. */
export const fleetRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/me',
    role: 'reader',
    summary:
      'The role and the tenant of the key, the version of the server, and whether the fleet is stopped. An operator without a tenant also gets the store of the server.',
    responses: {
      200: z.object({
        role: z.string(),
        tenant: z.string().exactOptional(),
        version: z.string(),
        store: z.string().exactOptional(),
        stopped: z.boolean(),
      }),
    },
    async handle({ context, caller }) {
      const { stopped } = await readKillSwitchStatus(context);
      const { role, tenant } = caller;
      const { version, store } = context;
      const key = { role, ...(tenant === undefined ? {} : { tenant }) };
      // The location of the store names hosts, databases and folders of the operator.
      const location = hasRole(role, 'operator') && tenant === undefined ? { store: store.description } : {};
      return { json: { ...key, version, ...location, stopped } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/options',
    role: 'reader',
    summary:
      'What a client may choose for a run: the models, the default first, and for a key without a tenant the folders that runs may work in; and whether the key sees the sessions of the terminal.',
    responses: {
      200: z.object({ models: z.array(z.string()), folders: z.array(z.string()), terminalSessions: z.boolean() }),
    },
    async handle({ context, caller }) {
      // The folders are paths of the operator's machine: a tenant needs none of them.
      const folders = caller.tenant === undefined ? [...context.folders] : [];
      const terminalSessions = context.terminalSessions !== undefined;
      return { json: { models: [...(await context.models())], folders, terminalSessions } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/queue',
    role: 'reader',
    summary: 'The queue: depth, limits, workers, schedules and the kill switch.',
    responses: {
      200: z.object({
        depth: depthSchema,
        limits: apiSchemas.QueueLimits,
        workers: z.array(apiSchemas.Worker),
        schedules: z.array(apiSchemas.Schedule),
        killSwitch: apiSchemas.KillSwitchState,
      }),
    },
    async handle({ context }) {
      const { queue, workers: registry } = context.store;
      const [depth, limits, workers, schedules, killSwitch] = await Promise.all([
        queue.depth(),
        queue.limits(),
        registry.list(),
        queue.schedules(),
        readKillSwitchStatus(context),
      ]);
      return { json: { depth, limits, workers, schedules, killSwitch } };
    },
  }),
  defineRoute({
    method: 'put',
    path: '/api/queue/limits',
    role: 'operator',
    summary: 'Limits how fast all workers together start runs; an omitted limit is removed.',
    schemas: { body: apiSchemas.QueueLimits },
    responses: { 200: z.object({ limits: apiSchemas.QueueLimits }) },
    async handle({ context: { store }, body }) {
      await store.queue.setLimits(body);
      return { json: { limits: await store.queue.limits() } };
    },
  }),
  defineRoute({
    method: 'put',
    path: '/api/schedules/{name}',
    role: 'runner',
    summary: 'Creates or replaces a schedule that queues a run by a cron expression in UTC.',
    schemas: {
      body: z.strictObject({ cron: z.string().min(9).max(200), run: recurringRunSchema }),
    },
    responses: { 200: z.object({ schedule: apiSchemas.Schedule }) },
    async handle({ context, caller, params, body }) {
      const run = await authorizeRun({ context, caller }, body.run);
      const schedule = await context.store.queue.saveSchedule({ name: params['name'] ?? '', cron: body.cron, run });
      return { json: { schedule } };
    },
  }),
  defineRoute({
    method: 'delete',
    path: '/api/schedules/{name}',
    role: 'runner',
    summary: 'Deletes a schedule.',
    responses: { 200: z.object({ name: z.string() }) },
    async handle({ context: { store }, params }) {
      const name = params['name'] ?? '';
      await store.queue.removeSchedule(name);
      return { json: { name } };
    },
  }),
];

/** The routes of the kill switch. */
export const killSwitchRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/kill-switch',
    role: 'reader',
    exemptFromLimits: true,
    summary: 'The state of the kill switch.',
    responses: { 200: apiSchemas.KillSwitchState },
    handle: async ({ context }) => ({ json: await readKillSwitchStatus(context) }),
  }),
  defineRoute({
    method: 'post',
    path: '/api/kill-switch',
    role: 'operator',
    exemptFromLimits: true,
    summary: 'Stops all workers, or lets them continue: `stopped` true needs a `reason`.',
    schemas: {
      body: z.strictObject({ stopped: z.boolean(), reason: z.string().min(1).max(2000).optional() }),
    },
    responses: { 200: apiSchemas.KillSwitchState },
    async handle({ context: { store }, body: { stopped, reason }, caller }) {
      if (!stopped) return { json: await store.killSwitch.resume(caller.name) };
      if (reason === undefined)
        throw createHttpError('server/bad-request', 'A reason is required to stop the fleet.', { param: 'reason' });
      return { json: await store.killSwitch.stop(reason, caller.name) };
    },
  }),
];

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
