// The routes of how the fleet is and was, for people, for Prometheus, and what was measured of what we claim.
import { z } from 'zod';
import { metricsText, readMeasured, scorecardOf } from '../../fleet/health/index.ts';
import { refused } from '../faults.ts';
import { route, type Route } from '../route.ts';
import { shapes } from '../schemas.ts';

const interval = z.tuple([z.number().nullable(), z.number().nullable()]);
const rate = z.looseObject({ interval });
const quantile = z.looseObject({ value: z.number(), interval });
const percentiles = z.looseObject({ p50: quantile, p95: quantile, p99: quantile }).nullable();

const health = z.looseObject({
  at: z.string(),
  depth: z.looseObject({ queued: z.number(), running: z.number(), resting: z.number() }),
  oldestMs: z.number().nullable(),
  workers: z.array(z.looseObject({ worker: z.string(), alive: z.boolean() })),
  breakers: z.array(z.looseObject({ worker: z.string(), model: z.string(), state: z.string() })),
  rates: z.looseObject({ ended: z.number(), errors: rate, abstained: rate }),
  waited: percentiles,
  took: percentiles,
  standing: shapes.Standing,
  slo: z.array(z.looseObject({ id: z.string(), verdict: z.string() })),
  drift: z.array(z.looseObject({ id: z.string(), verdict: z.string() })),
});

const row = z.looseObject({
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

const hour = 3_600_000;
const mostStretches = 2000;

/** The routes of how the fleet is and was. */
export const healthRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/health',
    role: 'reader',
    summary: 'How the fleet is: what waits, who works, rates and durations with intervals, objectives, drift.',
    answers: { 200: health },
    handle: async ({ place }) => ({ json: await place.health() }),
  }),
  route({
    method: 'get',
    path: '/api/health/history',
    role: 'reader',
    summary: 'What ended, in stretches of time, oldest first: the last 24 hours by the hour unless asked otherwise.',
    shapes: {
      query: z.strictObject({
        from: z.iso.datetime().optional(),
        to: z.iso.datetime().optional(),
        stretchMs: z.coerce.number().int().min(1000).optional(),
      }),
    },
    answers: { 200: z.object({ tallies: z.array(shapes.Tally) }) },
    async handle({ place, query: { from, to = new Date().toISOString(), stretchMs = hour } }) {
      const begin = from ?? new Date(Date.parse(to) - 24 * hour).toISOString();
      const stretches = (Date.parse(to) - Date.parse(begin)) / stretchMs;
      if (!(stretches > 0 && stretches <= mostStretches))
        throw refused('server/bad-request', `Ask for between 1 and ${mostStretches} stretches of time.`);
      return { json: { tallies: await place.store.queue.stats(begin, to, stretchMs) } };
    },
  }),
  route({
    method: 'get',
    path: '/api/frontier',
    role: 'reader',
    summary: 'The trust scorecard: what was measured here, with counts and intervals, and what was not.',
    answers: { 200: z.object({ rows: z.array(row) }) },
    handle: ({ place: { measured } }) => ({
      json: { rows: scorecardOf(measured === undefined ? [] : readMeasured(measured)) },
    }),
  }),
  route({
    method: 'get',
    path: '/metrics',
    role: 'reader',
    summary: 'Health as Prometheus reads it.',
    answers: { 200: 'text/plain' },
    async handle({ place }) {
      const now = Date.now();
      const [how, tallies] = await Promise.all([
        place.health(),
        place.store.queue.stats(new Date(now - 24 * hour).toISOString(), new Date(now).toISOString(), hour),
      ]);
      const { watchers, lookouts } = place.watching.counts();
      const own = [
        ['fairlead_server_watchers', 'Streams that are open at this server.', watchers],
        ['fairlead_server_lookouts', 'Runs and sessions that they watch.', lookouts],
      ].map(([name, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}\n`);
      return { content: metricsText(how, tallies) + own.join(''), type: 'text/plain; version=0.0.4; charset=utf-8' };
    },
  }),
];
