// The routes of the fleet: what waits, who works, how fast, and what comes again by the clock.
import { z } from 'zod';
import { route, type Route } from '../route.ts';
import { recurring, shapes } from '../schemas.ts';
import { allowedRun } from '../wishes.ts';
import { standingOf } from './control.ts';

const depth = z.object({ queued: z.number(), running: z.number(), resting: z.number(), oldest: z.string().optional() });

/** The routes of the queue, its workers and its schedules. */
export const fleetRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/queue',
    role: 'reader',
    summary: 'What waits and what is under way, who works, and what holds them back.',
    answers: {
      200: z.object({
        depth,
        limits: shapes.QueueLimits,
        workers: z.array(shapes.Worker),
        schedules: z.array(shapes.Schedule),
        standing: shapes.Standing,
      }),
    },
    async handle({ place }) {
      const { queue, workers: roster } = place.store;
      const [now, limits, workers, schedules, standing] = await Promise.all([
        queue.depth(),
        queue.limits(),
        roster.list(),
        queue.schedules(),
        standingOf(place),
      ]);
      return { json: { depth: now, limits, workers, schedules, standing } };
    },
  }),
  route({
    method: 'put',
    path: '/api/queue/limits',
    role: 'operator',
    summary: 'Bounds how fast runs are taken, over all workers; what is left out does not bind.',
    shapes: { body: shapes.QueueLimits },
    answers: { 200: z.object({ limits: shapes.QueueLimits }) },
    async handle({ place: { store }, body }) {
      await store.queue.setLimits(body);
      return { json: { limits: await store.queue.limits() } };
    },
  }),
  route({
    method: 'put',
    path: '/api/schedules/{name}',
    role: 'runner',
    summary: 'Adds a run that comes again by the clock, or changes it.',
    shapes: {
      body: z.strictObject({ cron: z.string().min(9).max(200), run: recurring }),
    },
    answers: { 200: z.object({ schedule: shapes.Schedule }) },
    async handle({ place, caller, params, body }) {
      const run = allowedRun({ place, caller }, body.run);
      const schedule = { name: params['name'] ?? '', cron: body.cron, run };
      await place.store.queue.setSchedule(schedule);
      return { json: { schedule } };
    },
  }),
  route({
    method: 'delete',
    path: '/api/schedules/{name}',
    role: 'runner',
    summary: 'Takes a schedule away.',
    answers: { 200: z.object({ name: z.string() }) },
    async handle({ place: { store }, params }) {
      const name = params['name'] ?? '';
      await store.queue.setSchedule({ name });
      return { json: { name } };
    },
  }),
];
