// The routes of how the fleet is and was, for people, for Prometheus, and what was measured of what we claim.
import { z } from 'zod';
import { formatMetrics, readMeasurements, createScorecard } from '../../../fleet/health/index.ts';
import { createHttpError } from '../errors.ts';
import { defineRoute, type Route } from '../route.ts';
import { apiSchemas } from '../schemas.ts';

const intervalSchema = z.tuple([z.number().nullable(), z.number().nullable()]);
const rateSchema = z.looseObject({ interval: intervalSchema });
const quantileSchema = z.looseObject({ value: z.number(), interval: intervalSchema });
const percentilesSchema = z.looseObject({ p50: quantileSchema, p95: quantileSchema, p99: quantileSchema }).nullable();

const healthSchema = z.looseObject({
  at: z.string(),
  depth: z.looseObject({ queued: z.number(), running: z.number(), resting: z.number() }),
  oldestMs: z.number().nullable(),
  workers: z.array(z.looseObject({ worker: z.string(), alive: z.boolean() })),
  breakers: z.array(z.looseObject({ worker: z.string(), model: z.string(), state: z.string() })),
  rates: z.looseObject({ ended: z.number(), errors: rateSchema, abstained: rateSchema }),
  waited: percentilesSchema,
  took: percentilesSchema,
  standing: apiSchemas.Standing,
  slo: z.array(z.looseObject({ id: z.string(), verdict: z.string() })),
  drift: z.array(z.looseObject({ id: z.string(), verdict: z.string() })),
});

const scoreRowSchema = z.looseObject({
  id: z.string(),
  title: z.string(),
  what: z.string(),
  measured: z.boolean(),
  good: z.number().optional(),
  total: z.number().optional(),
  interval: z.tuple([z.number(), z.number()]).optional(),
  when: z.string().optional(),
  how: z.string().optional(),
});

const hourMs = 3_600_000;
const maxBuckets = 2000;

/** The routes of how the fleet is and was. */
export const healthRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/health',
    role: 'reader',
    summary: 'How the fleet is: what waits, who works, rates and durations with intervals, objectives, drift.',
    responses: { 200: healthSchema },
    handle: async ({ context }) => ({ json: await context.health() }),
  }),
  defineRoute({
    method: 'get',
    path: '/api/health/history',
    role: 'reader',
    summary: 'What ended, in stretches of time, oldest first: the last 24 hours by the hour unless asked otherwise.',
    schemas: {
      query: z.strictObject({
        from: z.iso.datetime().optional(),
        to: z.iso.datetime().optional(),
        stretchMs: z.coerce.number().int().min(1000).optional(),
      }),
    },
    responses: { 200: z.object({ tallies: z.array(apiSchemas.Tally) }) },
    async handle({ context, query: { from, to = new Date().toISOString(), stretchMs = hourMs } }) {
      const begin = from ?? new Date(Date.parse(to) - 24 * hourMs).toISOString();
      const stretches = (Date.parse(to) - Date.parse(begin)) / stretchMs;
      if (!(stretches > 0 && stretches <= maxBuckets))
        throw createHttpError('server/bad-request', `Ask for between 1 and ${maxBuckets} stretches of time.`);
      return { json: { tallies: await context.store.queue.stats(begin, to, stretchMs) } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/frontier',
    role: 'reader',
    summary: 'The trust scorecard: what was measured here, with counts and intervals, and what was not.',
    responses: { 200: z.object({ rows: z.array(scoreRowSchema) }) },
    handle: ({ context: { measurementsDir } }) => ({
      json: { rows: createScorecard(measurementsDir === undefined ? [] : readMeasurements(measurementsDir)) },
    }),
  }),
  defineRoute({
    method: 'get',
    path: '/metrics',
    role: 'reader',
    summary: 'Health as Prometheus reads it.',
    responses: { 200: 'text/plain' },
    async handle({ context }) {
      const now = Date.now();
      const [how, tallies] = await Promise.all([
        context.health(),
        context.store.queue.stats(new Date(now - 24 * hourMs).toISOString(), new Date(now).toISOString(), hourMs),
      ]);
      const { subscribers, broadcasters } = context.broadcasters.counts();
      const own = [
        ['fairlead_server_watchers', 'Streams that are open at this server.', subscribers],
        ['fairlead_server_lookouts', 'Runs and sessions that they watch.', broadcasters],
      ].map(([name, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`);
      return { content: formatMetrics(how, tallies) + own.join(''), type: 'text/plain; version=0.0.4; charset=utf-8' };
    },
  }),
];
