// HTTP routes of fleet health, run statistics, Prometheus metrics and the scorecard.
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
  measuredAt: z.string(),
  depth: z.looseObject({ queued: z.number(), running: z.number(), waiting: z.number() }),
  oldestMs: z.number().nullable(),
  workers: z.array(z.looseObject({ worker: z.string(), alive: z.boolean() })),
  breakers: z.array(z.looseObject({ worker: z.string(), model: z.string(), state: z.string() })),
  rates: z.looseObject({ ended: z.number(), errors: rateSchema, abstained: rateSchema }),
  queueMs: percentilesSchema,
  durationMs: percentilesSchema,
  killSwitch: apiSchemas.KillSwitchState,
  slo: z.array(z.looseObject({ id: z.string(), verdict: z.string() })),
  drift: z.array(z.looseObject({ id: z.string(), verdict: z.string() })),
});

const scoreRowSchema = z.looseObject({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  measured: z.boolean(),
  needs: z.string().optional(),
  good: z.number().optional(),
  total: z.number().optional(),
  interval: z.tuple([z.number(), z.number()]).optional(),
  when: z.string().optional(),
  how: z.string().optional(),
});

const hourMs = 3_600_000;
const maxBuckets = 2000;

/** The routes of fleet health. */
export const healthRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/health',
    role: 'reader',
    summary: 'Fleet health: queue, workers, rates and durations with confidence intervals, objectives and drift.',
    responses: { 200: healthSchema },
    handle: async ({ context }) => ({ json: await context.health() }),
  }),
  defineRoute({
    method: 'get',
    path: '/api/health/history',
    role: 'reader',
    summary: 'Statistics of ended runs in time buckets, oldest first; the default is the last 24 hours by the hour.',
    schemas: {
      query: z.strictObject({
        from: z.iso.datetime().optional(),
        to: z.iso.datetime().optional(),
        bucketMs: z.coerce.number().int().min(1000).optional(),
      }),
    },
    responses: { 200: z.object({ stats: z.array(apiSchemas.RunStats) }) },
    async handle({ context, query: { from, to = new Date().toISOString(), bucketMs = hourMs } }) {
      const start = from ?? new Date(Date.parse(to) - 24 * hourMs).toISOString();
      const buckets = (Date.parse(to) - Date.parse(start)) / bucketMs;
      if (!(buckets > 0 && buckets <= maxBuckets))
        throw createHttpError('server/bad-request', `The time range must have between 1 and ${maxBuckets} buckets.`);
      return { json: { stats: await context.store.queue.stats(start, to, bucketMs) } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/scorecard',
    role: 'reader',
    summary: 'The trust scorecard: each claim with its measurement on this machine, or that it was not measured.',
    responses: { 200: z.object({ rows: z.array(scoreRowSchema) }) },
    handle: ({ context: { measurementsDir } }) => ({
      json: { rows: createScorecard(measurementsDir === undefined ? [] : readMeasurements(measurementsDir)) },
    }),
  }),
  defineRoute({
    method: 'get',
    path: '/metrics',
    role: 'reader',
    summary: 'Health as Prometheus metrics.',
    responses: { 200: 'text/plain' },
    async handle({ context }) {
      const now = Date.now();
      const [health, stats] = await Promise.all([
        context.health(),
        context.store.queue.stats(new Date(now - 24 * hourMs).toISOString(), new Date(now).toISOString(), hourMs),
      ]);
      const { subscribers, broadcasters } = context.broadcasters.counts();
      const own = [
        ['fairlead_server_stream_clients', 'Open event streams of this server.', subscribers],
        ['fairlead_server_broadcasters', 'Runs and sessions that these streams follow.', broadcasters],
      ].map(([name, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`);
      return { content: formatMetrics(health, stats) + own.join(''), type: 'text/plain; version=0.0.4; charset=utf-8' };
    },
  }),
];
