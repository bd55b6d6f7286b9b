// Runs on behalf of HTTP routes: authorizes them, starts them, finds them and waits for them.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type FleetRun,
  type JsonObject,
  type FairleadError,
  type NewRun,
  errorMessage,
  parseTraceContext,
  type KillSwitchState,
} from '../../core/index.ts';
import { findRunDifference } from '../../fleet/index.ts';
import type { ServerContext } from './context.ts';
import { createHttpError } from './errors.ts';
import type { RouteRequest } from './route.ts';
import { nameSchema } from './schemas.ts';
import { assertNoActiveRun } from './sessions.ts';
import { hasRole, type Caller } from './keys.ts';
import { assertMayStart, createFolderResolver, type FolderResolver } from './run-authority.ts';
import { defaultModelAlias } from './run-settings.ts';

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
  const trace = parseTraceContext(headers['traceparent'], headers['tracestate']);
  const run = await authorizeRun(
    { context, caller },
    {
      prompt,
      kind,
      settings: { ...(agentOptions as JsonObject), ...settings, ...(trace ? { trace } : {}) },
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

/** The context and the client of a request that starts a run. */
export type RunRequestContext = { readonly context: ServerContext; readonly caller: Caller };

/** Returns the run that a request may start, with the tenant and names that it gets; throws 403 if its role, tenant or folder is not allowed. */
export async function authorizeRun(
  { context, caller }: RunRequestContext,
  { settings: requested = {}, ...run }: NewRun,
  resolveFolder: FolderResolver = createFolderResolver(context.folders),
): Promise<NewRun> {
  const { folders, store } = context;
  const folder = await assertMayStart({ caller, folders }, requested, resolveFolder);
  // GET /v1/models lists the default model under this name.
  const isAny = requested['model'] === defaultModelAlias;
  return {
    ...(await store.scopeRun(run)),
    // The worker checks the folder and the session again: a link, or the rights of the session, may have changed by then.
    settings: JSON.parse(
      JSON.stringify({
        ...requested,
        ...(isAny ? { model: undefined } : {}),
        ...(hasRole(caller.role, 'operator') ? {} : { role: caller.role }),
        folder,
        within: folders,
      }),
    ) as JsonObject,
  };
}

/** The same for all runs of a request. Each distinct folder is resolved once. */
export function authorizeRuns(request: RunRequestContext, runs: readonly NewRun[]): Promise<readonly NewRun[]> {
  const resolveFolder = createFolderResolver(request.context.folders);
  return Promise.all(runs.map((run) => authorizeRun(request, run, resolveFolder)));
}

/** Throws 409 if an existing run differs from the requested run with the same id. */
function assertSameRun(known: FleetRun, requested: NewRun): void {
  if (findRunDifference(known, requested)) throw createRunConflictError(known.id);
}

/** The error for an id that another run has. It does not describe that run, which may belong to another client. */
export const createRunConflictError = (id: string): FairleadError =>
  createHttpError('server/conflict', `The id ${id} is taken by another run.`, {
    hint: 'Use a new Idempotency-Key or id for each run.',
  });

const unreadableStatus: KillSwitchState = {
  stopped: true,
  reason: 'The kill switch cannot be read, so it counts as stopped.',
};

/** Returns the state of the kill switch. Why it cannot be read goes to the server's own output: it may name paths and addresses. */
export async function readKillSwitchStatus({
  store,
  notify,
}: Pick<ServerContext, 'store' | 'notify'>): Promise<KillSwitchState> {
  try {
    const state = await store.killSwitch.status();
    // A store reports an unreadable row as stopped without a time.
    if (!state.stopped || state.since !== undefined) return state;
    notify(state.reason ?? 'The kill switch cannot be read.');
  } catch (error) {
    notify(`The kill switch cannot be read: ${errorMessage(error)}`);
  }
  return unreadableStatus;
}
