// The request fields of a run, and the response to a request that starts one: at once, or when the run has ended.
import { z } from 'zod';
import type { FleetRun } from '../../core/index.ts';
import type { RouteRequest, RouteResponse } from './route.ts';
import { agentOptionSchemas } from './run-settings.ts';
import { waitForRun } from './runs.ts';
import { apiSchemas, nameSchema, promptSchema } from './schemas.ts';

/** The response with a run and the path of its events. */
export const startedRunSchema: z.ZodObject<{ run: typeof apiSchemas.Run; stream: z.ZodString }> = z.object({
  run: apiSchemas.Run,
  stream: z.string(),
});

type RunRequestFields = typeof agentOptionSchemas & {
  readonly prompt: z.ZodString;
  readonly tenant: z.ZodOptional<z.ZodString>;
  readonly priority: z.ZodOptional<z.ZodNumber>;
  readonly session: z.ZodOptional<z.ZodString>;
};

/** The fields of a request that starts one run. */
export const runRequestFields: RunRequestFields = {
  prompt: promptSchema,
  ...agentOptionSchemas,
  tenant: nameSchema.optional(),
  priority: z.number().int().min(-1000).max(1000).optional(),
  session: nameSchema.optional(),
};

/** The query of a request that may wait for the end of its run. */
export const waitQuerySchema: z.ZodObject<{ wait: z.ZodOptional<z.ZodCoercedNumber> }, z.core.$strict> = z.strictObject(
  {
    wait: z.coerce.number().int().min(0).max(9999).optional(),
  },
);

const getStreamPath = (run: FleetRun): string => `/api/stream?run=${encodeURIComponent(run.id)}`;

const maxWaitSeconds = 600;

type WaitQuery = { readonly wait?: number | undefined };

/** Returns the seconds that the client waits: the query `wait`, or the header `Prefer: wait=<seconds>`. */
function parseWaitSeconds({ headers }: RouteRequest, { wait }: WaitQuery): number | undefined {
  const preferred = /(?:^|[\s,;])wait=(\d{1,4})(?:$|[\s,;])/.exec(String(headers['prefer'] ?? ''))?.[1];
  return wait ?? (preferred === undefined ? undefined : Number(preferred));
}

/** Responds with the run at once, or when it has ended or waits for approval if the client asked to wait; `more` reads further fields of the response. */
export async function respondWithRun(
  request: RouteRequest,
  query: WaitQuery,
  run: FleetRun,
  more: (run: FleetRun) => Promise<object> = async () => ({}),
): Promise<RouteResponse> {
  const seconds = parseWaitSeconds(request, query);
  const latest =
    seconds === undefined
      ? run
      : await waitForRun(request.context, run, Math.min(seconds, maxWaitSeconds) * 1000, request.signal);
  const isDone = seconds !== undefined && (latest.status === 'ended' || latest.status === 'waiting');
  const json = { run: latest, stream: getStreamPath(latest), ...(isDone ? await more(latest) : {}) };
  return { status: isDone ? 200 : 202, json };
}
