// The routes of the fleet: what waits, who works, how fast, and what comes again by the clock.
import { z } from 'zod';
import { defineRoute, type Route } from '../route.ts';
import { recurringRunSchema, apiSchemas } from '../schemas.ts';
import { authorizeRun } from '../run-request.ts';
import { readKillSwitchStatus } from './kill-switch.ts';

const depthSchema = z.object({
  queued: z.number(),
  running: z.number(),
  resting: z.number(),
  oldest: z.string().optional(),
});

/** The routes of the queue, its workers and its schedules. */
export const fleetRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/queue',
    role: 'reader',
    summary: 'What waits and what is under way, who works, and what holds them back.',
    responses: {
      200: z.object({
        depth: depthSchema,
        limits: apiSchemas.QueueLimits,
        workers: z.array(apiSchemas.Worker),
        schedules: z.array(apiSchemas.Schedule),
        standing: apiSchemas.Standing,
      }),
    },
    async handle({ context }) {
      const { queue, workers: roster } = context.store;
      const [now, limits, workers, schedules, standing] = await Promise.all([
        queue.depth(),
        queue.limits(),
        roster.list(),
        queue.schedules(),
        readKillSwitchStatus(context),
      ]);
      return { json: { depth: now, limits, workers, schedules, standing } };
    },
  }),
  defineRoute({
    method: 'put',
    path: '/api/queue/limits',
    role: 'operator',
    summary: 'Bounds how fast runs are taken, over all workers; what is left out does not bind.',
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
    summary: 'Adds a run that comes again by the clock, or changes it.',
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
    summary: 'Takes a schedule away.',
    responses: { 200: z.object({ name: z.string() }) },
    async handle({ context: { store }, params }) {
      const name = params['name'] ?? '';
      await store.queue.setSchedule({ name });
      return { json: { name } };
    },
  }),
];
