// HTTP routes that start, list, read and cancel runs.
import { z } from 'zod';
import type { FleetRun } from '../../../core/index.ts';
import { enqueueOnce } from '../../../fleet/index.ts';
import { outcomeClasses, type OutcomeClass } from '../../../fleet/health/index.ts';
import { listRunsWithinBounds } from '../bounded-lists.ts';
import { createHttpError } from '../errors.ts';
import { defineRoute, type Route } from '../route.ts';
import { respondWithRun, runRequestFields, startedRunSchema, waitQuerySchema } from '../run-response.ts';
import { authorizeRuns, createRunConflictError, assertAcceptsRuns, requireRun, startRun } from '../runs.ts';
import { apiSchemas, maxItemsSchema, nameSchema, runStatusSchema } from '../schemas.ts';

const runResponseSchema = z.object({ run: apiSchemas.Run });
const queuedRunsSchema = z.object({ runs: z.array(apiSchemas.Run) });

type RunSearch = {
  readonly outcome: OutcomeClass | undefined;
  readonly since: string | undefined;
  readonly q: string | undefined;
};

/** Returns whether a run matches a search; undefined if there is nothing to search for. */
function createRunMatcher({ outcome, since, q = '' }: RunSearch): ((run: FleetRun) => boolean) | undefined {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  if (outcome === undefined && since === undefined && words.length === 0) return undefined;
  const earliest = since === undefined ? undefined : Date.parse(since);
  return (run) => {
    if (outcome !== undefined && (!run.outcome || outcomeClasses[run.outcome.reason] !== outcome)) return false;
    if (earliest !== undefined && (run.ended === undefined || Date.parse(run.ended) < earliest)) return false;
    const text = `${run.prompt}\n${run.id}\n${run.session}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

/** The routes that start, list, read and cancel runs. */
export const runRoutes: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/runs',
    role: 'runner',
    summary:
      'Starts a run, or queues many as `runs`, each once by its id. `wait=<seconds>` or `Prefer: wait=<seconds>` waits for the end of one run; `Idempotency-Key` is its id.',
    schemas: {
      query: waitQuerySchema,
      body: z.union([
        z.strictObject(runRequestFields),
        z.strictObject({ runs: z.array(apiSchemas.NewRun).min(1).max(1000) }),
      ]),
    },
    responses: { 200: startedRunSchema, 202: z.union([startedRunSchema, queuedRunsSchema]) },
    async handle(request) {
      const { body, query, context, caller } = request;
      if (!('runs' in body)) return respondWithRun(request, query, await startRun(request, 'run', body));
      if (query.wait !== undefined)
        throw createHttpError('server/bad-request', '`wait` works with one run only.', { param: 'wait' });
      assertAcceptsRuns(context);
      const runs = await authorizeRuns({ context, caller }, body.runs);
      const queued = await enqueueOnce(context.store, runs, { createConflictError: createRunConflictError });
      return { status: 202, json: { runs: queued } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/runs',
    role: 'reader',
    summary:
      'Runs, newest first. `outcome` is the class of the stop reason, `since` is the earliest end of a run, and `q` searches prompts. If there are too many for one response, it has fewer, and `next`: send it as `before` for the others.',
    schemas: {
      query: z.strictObject({
        status: runStatusSchema.optional(),
        tenant: nameSchema.optional(),
        parent: nameSchema.optional(),
        session: nameSchema.optional(),
        before: nameSchema.optional(),
        outcome: z.enum(['answered', 'abstained', 'error', 'limited', 'cancelled']).optional(),
        since: z.iso.datetime().optional(),
        q: z.string().max(200).optional(),
        limit: maxItemsSchema,
      }),
    },
    responses: { 200: queuedRunsSchema.extend({ next: z.string().exactOptional() }) },
    async handle({ context, query: { outcome, since, q, ...query } }) {
      const filter = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
      const isMatch = createRunMatcher({ outcome, since, q });
      return { json: await listRunsWithinBounds(context.store, { limit: 100, ...filter }, isMatch) };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/runs/{id}',
    role: 'reader',
    summary: 'One run.',
    responses: { 200: runResponseSchema },
    handle: async ({ context, params }) => ({ json: { run: await requireRun(context, params['id'] ?? '') } }),
  }),
  defineRoute({
    method: 'post',
    path: '/api/runs/{id}/cancel',
    role: 'runner',
    summary: 'Cancels a run; if a worker has it, the worker ends it.',
    responses: { 200: runResponseSchema },
    async handle({ context, params, caller }) {
      const run = await requireRun(context, params['id'] ?? '');
      return { json: { run: (await context.store.queue.cancel(run.id, `Cancelled by ${caller.name}.`)) ?? run } };
    },
  }),
];
