// HTTP routes of the queue, its workers, limits and schedules, and of the caller.
import { z } from 'zod';
import { readKillSwitchStatus } from '../kill-switch-status.ts';
import { defineRoute, type Route } from '../route.ts';
import { authorizeRun } from '../run-request.ts';
import { apiSchemas, recurringRunSchema } from '../schemas.ts';

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
    summary: 'The role of the key, the version and the store of the server, and whether the fleet is stopped.',
    responses: {
      200: z.object({ role: z.string(), version: z.string(), store: z.string(), stopped: z.boolean() }),
    },
    async handle({ context, caller }) {
      const { stopped } = await readKillSwitchStatus(context);
      return { json: { role: caller.role, version: context.version, store: context.store.description, stopped } };
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
      const run = authorizeRun({ context, caller }, body.run);
      const schedule = { name: params['name'] ?? '', cron: body.cron, run };
      await context.store.queue.setSchedule(schedule);
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
      await store.queue.setSchedule({ name });
      return { json: { name } };
    },
  }),
];
