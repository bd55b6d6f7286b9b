// The routes that begin runs, show them and end them.
import { z } from 'zod';
import type { FleetRun, JsonObject } from '../../../core/index.ts';
import { enqueueOnce } from '../../../fleet/enqueue-once.ts';
import { createHttpError } from '../errors.ts';
import type { ServerContext } from '../context.ts';
import { defineRoute, type RouteResponse, type RouteRequest, type Route } from '../route.ts';
import { maxItemsSchema, nameSchema, apiSchemas, runStatusSchema, promptSchema } from '../schemas.ts';
import { findActiveRun } from '../session-messages.ts';
import { waitForRun } from '../wait-for-run.ts';
import {
  authorizeRun,
  claimSchema,
  judgeModelsSchema,
  agentOptionSchemas,
  assertSameRun,
  createRunConflictError,
} from '../run-request.ts';

const runResponseSchema = z.object({ run: apiSchemas.Run });
const startedRunSchema = z.object({ run: apiSchemas.Run, stream: z.string() });
const runRequestFields = {
  words: promptSchema,
  ...agentOptionSchemas,
  tenant: nameSchema.optional(),
  priority: z.number().int().min(-1000).max(1000).optional(),
  session: nameSchema.optional(),
};

type RunRequestBody = {
  readonly words: string;
  readonly model?: string | undefined;
  readonly folder?: string | undefined;
  readonly auto?: boolean | undefined;
  readonly tenant?: string | undefined;
  readonly priority?: number | undefined;
  readonly session?: string | undefined;
  readonly limits?: Readonly<Record<string, number | undefined>> | undefined;
};

/** A run as the queue takes it; the same `Idempotency-Key` again is the same run, and never another. */
export async function startRun(
  { context, caller, headers }: Pick<RouteRequest, 'context' | 'caller' | 'headers'>,
  kind: string,
  { words: asked, tenant, priority, session, ...rest }: RunRequestBody,
  more: JsonObject = {},
): Promise<FleetRun> {
  if (context.shutdownSignal.aborted) throw createHttpError('server/busy', 'The server ends and takes no new work.');
  const id = parseIdempotencyKey(headers['idempotency-key']);
  const run = authorizeRun(
    { context, caller },
    {
      words: asked,
      kind,
      settings: { ...(rest as JsonObject), ...more },
      ...(id === undefined ? {} : { id }),
      ...(tenant === undefined ? {} : { tenant }),
      ...(priority === undefined ? {} : { priority }),
      ...(session === undefined ? {} : { session }),
    },
  );
  const known = await findRunByIdempotencyKey({ context, headers });
  if (known) assertSameRun(known, run);
  if (known) return known;
  if (session !== undefined) await assertSessionIdle(context, session);
  const [queued] = await context.store.queue.enqueue([run]);
  if (!queued) throw createHttpError('server/busy', 'The queue did not take the run.');
  // Another request may have come with the same id meanwhile.
  assertSameRun(queued, run);
  return queued;
}

/** The run that was begun under this `Idempotency-Key`, if one was. */
export async function findRunByIdempotencyKey({
  context,
  headers,
}: Pick<RouteRequest, 'context' | 'headers'>): Promise<FleetRun | undefined> {
  const id = parseIdempotencyKey(headers['idempotency-key']);
  return id === undefined ? undefined : context.store.queue.run(id);
}

function parseIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const { success, data } = nameSchema.safeParse(header);
  if (success) return data;
  throw createHttpError(
    'server/bad-request',
    'Idempotency-Key has to be a name of at most 200 letters, digits and . : @ _ -',
  );
}

/** Throws where a run is in this session: two at once would take it from each other. */
async function assertSessionIdle({ store }: ServerContext, session: string): Promise<void> {
  const live = await findActiveRun(store, session);
  if (live)
    throw createHttpError('server/conflict', `The run ${live.id} is ${live.status} in this session.`, {
      hint: `Add to it with POST /api/sessions/${session}/steer, or cancel it first.`,
    });
}

const getStreamPath = (run: FleetRun): string => `/api/stream?run=${encodeURIComponent(run.id)}`;

/** However long a caller prefers to wait. */
const maxWaitSeconds = 600;

/** Answers at once, or waits for as long as the caller prefers. */
async function respondWithRun(asked: RouteRequest, run: FleetRun): Promise<RouteResponse> {
  const wait = /(?:^|[\s,;])wait=(\d{1,4})(?:$|[\s,;])/.exec(String(asked.headers['prefer'] ?? ''))?.[1];
  const now =
    wait === undefined
      ? run
      : await waitForRun(asked.context, run, Math.min(Number(wait), maxWaitSeconds) * 1000, asked.signal);
  const isDone = wait !== undefined && (now.status === 'ended' || now.status === 'resting');
  return { status: isDone ? 200 : 202, json: { run: now, stream: getStreamPath(now) } };
}

/** The routes that begin, show and end runs. */
export const runRoutes: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/run',
    role: 'runner',
    summary: 'Begins a run. `Prefer: wait=<seconds>` waits for its end; `Idempotency-Key` is its id.',
    schemas: { body: z.strictObject(runRequestFields) },
    responses: { 200: startedRunSchema, 202: startedRunSchema },
    handle: async (asked) => respondWithRun(asked, await startRun(asked, 'run', asked.body)),
  }),
  defineRoute({
    method: 'post',
    path: '/api/orchestrate',
    role: 'runner',
    summary: 'Begins a run that takes a task apart, has its parts done and puts them together.',
    schemas: { body: z.strictObject(runRequestFields) },
    responses: { 200: startedRunSchema, 202: startedRunSchema },
    handle: async (asked) => respondWithRun(asked, await startRun(asked, 'plan', asked.body)),
  }),
  defineRoute({
    method: 'post',
    path: '/api/verify',
    role: 'runner',
    summary: 'Begins a run in which other models examine an answer, or answer themselves.',
    schemas: {
      body: z.strictObject({
        ...runRequestFields,
        answer: claimSchema,
        models: judgeModelsSchema,
      }),
    },
    responses: { 200: startedRunSchema, 202: startedRunSchema },
    async handle(asked) {
      const { answer, models, ...rest } = asked.body;
      const more = { ...(answer === undefined ? {} : { claim: answer }), ...(models === undefined ? {} : { models }) };
      return respondWithRun(asked, await startRun(asked, 'verify', rest, more));
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/enqueue',
    role: 'runner',
    summary: 'Puts runs into the queue, each once by its id.',
    schemas: { body: z.strictObject({ runs: z.array(apiSchemas.NewRun).min(1).max(1000) }) },
    responses: { 202: z.object({ runs: z.array(apiSchemas.Run) }) },
    async handle({ context, caller, body }) {
      if (context.shutdownSignal.aborted)
        throw createHttpError('server/busy', 'The server ends and takes no new work.');
      const runs = body.runs.map((run) => authorizeRun({ context, caller }, run));
      const queued = await enqueueOnce(context.store, runs, { createConflictError: createRunConflictError });
      return { status: 202, json: { runs: queued } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/runs',
    role: 'reader',
    summary: 'Runs, the latest first.',
    schemas: {
      query: z.strictObject({
        status: runStatusSchema.optional(),
        tenant: nameSchema.optional(),
        parent: nameSchema.optional(),
        session: nameSchema.optional(),
        before: nameSchema.optional(),
        most: maxItemsSchema,
      }),
    },
    responses: { 200: z.object({ runs: z.array(apiSchemas.Run) }) },
    async handle({ context, query }) {
      const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
      return { json: { runs: await context.store.queue.list({ most: 100, ...given }) } };
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
    summary: 'Ends a run, or tells the one who works on it to.',
    responses: { 200: runResponseSchema },
    async handle({ context, params, caller }) {
      const run = await requireRun(context, params['id'] ?? '');
      return { json: { run: (await context.store.queue.cancel(run.id, `Cancelled by ${caller.name}.`)) ?? run } };
    },
  }),
];

/** A run that has to be there. */
export async function requireRun({ store }: Pick<ServerContext, 'store'>, id: string): Promise<FleetRun> {
  const run = await store.queue.run(id);
  if (!run) throw createHttpError('server/not-found', `There is no run ${id.slice(0, 200)}.`);
  return run;
}
