// Starts, finds and waits for runs on behalf of HTTP routes.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetRun, JsonObject } from '../../core/index.ts';
import type { ServerContext } from './context.ts';
import { createHttpError } from './errors.ts';
import type { RouteRequest } from './route.ts';
import { assertSameRun, authorizeRun } from './run-request.ts';
import { nameSchema } from './schemas.ts';
import { assertNoActiveRun } from './session-messages.ts';

/** A request for one run: its prompt, and what the caller may set of its agent and its place in the queue. */
export type RunRequestBody = {
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly folder?: string | undefined;
  readonly auto?: boolean | undefined;
  readonly tenant?: string | undefined;
  readonly priority?: number | undefined;
  readonly session?: string | undefined;
  readonly limits?: Readonly<Record<string, number | undefined>> | undefined;
};

/** Throws if the server is closing. */
export function assertAcceptsRuns({ shutdownSignal }: Pick<ServerContext, 'shutdownSignal'>): void {
  if (shutdownSignal.aborted) throw createHttpError('server/busy', 'The server is shutting down.');
}

/** Queues a run. A second request with the same `Idempotency-Key` returns the first run, and is refused if it asks for something else. */
export async function startRun(
  { context, caller, headers }: Pick<RouteRequest, 'context' | 'caller' | 'headers'>,
  kind: string,
  { prompt, tenant, priority, session, ...agentOptions }: RunRequestBody,
  settings: JsonObject = {},
): Promise<FleetRun> {
  assertAcceptsRuns(context);
  const id = parseIdempotencyKey(headers['idempotency-key']);
  const run = authorizeRun(
    { context, caller },
    {
      prompt,
      kind,
      settings: { ...(agentOptions as JsonObject), ...settings },
      ...(id === undefined ? {} : { id }),
      ...(tenant === undefined ? {} : { tenant }),
      ...(priority === undefined ? {} : { priority }),
      ...(session === undefined ? {} : { session }),
    },
  );
  const known = await findRunByIdempotencyKey({ context, headers });
  if (known) {
    assertSameRun(known, run);
    return known;
  }
  if (session !== undefined)
    await assertNoActiveRun(
      context.store,
      session,
      `Send it a message with POST /api/sessions/${session}/steer, or cancel it first.`,
    );
  const [queued] = await context.store.queue.enqueue([run]);
  if (!queued) throw createHttpError('server/busy', 'The queue did not accept the run.');
  // A concurrent request may have queued another run under the same id.
  assertSameRun(queued, run);
  return queued;
}

/** Returns the run that was started with the request's `Idempotency-Key`, if there is one. */
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
    'Invalid Idempotency-Key: use at most 200 letters, digits and . : @ _ - characters.',
  );
}

/** Returns the run with this id; throws 404 if there is none. */
export async function requireRun({ store }: Pick<ServerContext, 'store'>, id: string): Promise<FleetRun> {
  const run = await store.queue.run(id);
  if (!run) throw createHttpError('server/not-found', `Run not found: ${id.slice(0, 200)}.`);
  return run;
}

/** Waits until the run has ended or waits for approval, at most `ms` milliseconds, and returns its latest state. */
export async function waitForRun(
  { store }: Pick<ServerContext, 'store'>,
  run: FleetRun,
  ms: number,
  signal: AbortSignal,
): Promise<FleetRun> {
  let latest = run;
  const deadline = performance.now() + ms;
  for (let pollMs = 25; !signal.aborted; pollMs = Math.min(pollMs * 1.5, 500)) {
    latest = (await store.queue.run(run.id)) ?? latest;
    const remainingMs = deadline - performance.now();
    if (latest.status === 'ended' || latest.status === 'waiting' || remainingMs <= 0) return latest;
    await sleep(Math.min(pollMs, remainingMs), undefined, { signal }).catch(() => {});
  }
  return latest;
}
