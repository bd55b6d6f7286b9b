// HTTP routes of releases: those in use with the results of the canary and the history, and the rollback.
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import type { ReleaseReport } from '../../../coding-agent/releases/index.ts';
import type { FleetRun } from '../../../core/index.ts';
import type { ServerContext } from '../context.ts';
import { createHttpError } from '../errors.ts';
import { defineRoute, type Route } from '../route.ts';

const rateSchema = z.object({
  good: z.number(),
  total: z.number(),
  rate: z.number().nullable(),
  interval: z.tuple([z.number(), z.number()]),
});

const changeSchema = z.object({
  seq: z.number(),
  time: z.string(),
  action: z.enum(['canary-started', 'activated', 'rejected', 'rolled-back']),
  release: z.string(),
  by: z.string().exactOptional(),
  share: z.number().exactOptional(),
  reason: z.string().exactOptional(),
});

const releaseSchema = z.object({
  id: z.string(),
  name: z.string(),
  created: z.string(),
  by: z.string().exactOptional(),
  files: z.number(),
  tools: z.number(),
  model: z.string().exactOptional(),
  use: z.enum(['current', 'canary', 'previous']).exactOptional(),
});

const reportSchema = z.object({
  releases: z.array(releaseSchema),
  totalReleases: z.number(),
  canary: z
    .object({
      release: z.string(),
      share: z.number(),
      since: z.string(),
      decision: z.enum(['continue', 'activate', 'roll-back']),
      reason: z.string(),
      results: z.object({ canary: rateSchema, current: rateSchema }),
    })
    .exactOptional(),
  history: z.array(changeSchema),
  totalChanges: z.number(),
  rollback: z.object({ release: z.string(), to: z.string().exactOptional() }).exactOptional(),
  problems: z.array(z.string()),
});

const emptyReport: ReleaseReport = { releases: [], totalReleases: 0, history: [], totalChanges: 0, problems: [] };

/** Runs that are read from the store at once: their prompts may be large. */
const runsPerRead = 100;

/** Reads the latest ended runs without their prompts and settings. Other requests are answered between the reads. */
async function listEndedRuns({ queue }: ServerContext['store'], max: number): Promise<readonly FleetRun[]> {
  const runs: FleetRun[] = [];
  while (runs.length < max) {
    const before = runs.at(-1)?.id;
    const limit = Math.min(runsPerRead, max - runs.length);
    const read = await queue.list({ status: 'ended', limit, ...(before === undefined ? {} : { before }) });
    runs.push(...read.map((run) => ({ ...run, prompt: '', settings: {} })));
    if (read.length < limit) break;
    await setImmediate();
  }
  return runs;
}

/** Reads the report; the results of a canary are those of the runs that the client may see. */
async function readReport({ releases: open, store }: ServerContext): Promise<ReleaseReport> {
  if (!open) return emptyReport;
  const { maxCanaryRuns, reportReleases } = await import('../../../coding-agent/releases/index.ts');
  const { releases, canary } = await open();
  const report = reportReleases(releases, [], canary);
  // Without a canary no run is read.
  return report.canary ? reportReleases(releases, await listEndedRuns(store, maxCanaryRuns), canary) : report;
}

/** Returns a report without the names and words of the operators, for keys of one tenant. */
function withoutOperators(report: ReleaseReport): unknown {
  return {
    ...report,
    releases: report.releases.map(({ by: _, ...release }) => release),
    history: report.history.map(({ by: _, reason: __, ...change }) => change),
  };
}

/** The routes of releases. */
export const releaseRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/releases',
    role: 'reader',
    summary:
      'The latest releases and which are in use, the canary with its results and 95 % intervals, and the latest changes with their reasons. A key with a tenant gets the results of its own runs, and neither users nor reasons.',
    responses: { 200: reportSchema },
    async handle({ context, caller }) {
      const report = await readReport(context);
      return { json: caller.tenant === undefined ? report : withoutOperators(report) };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/releases/rollback',
    role: 'operator',
    summary:
      'Ends the canary, or returns from the current release to the one before it. With `release`, only if that is the release that ends: 409 otherwise.',
    schemas: {
      body: z.strictObject({
        reason: z.string().trim().min(1).max(2000),
        release: z.string().min(1).max(100).exactOptional(),
      }),
    },
    responses: { 200: z.object({ change: changeSchema }) },
    async handle({ context, body, caller }) {
      context.store.assertWholeFleet();
      if (!context.releases) throw createHttpError('server/conflict', 'This server has no releases.');
      const { rollBack } = await import('../../../coding-agent/releases/index.ts');
      const { releases } = await context.releases();
      const { previous: _, hash: __, ...change } = await rollBack(releases, caller.name, body.reason, body.release);
      return { json: { change } };
    },
  }),
];
