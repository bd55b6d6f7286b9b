// Starts the run of an OpenAI request: in a new session with the client's history, or in the session of an earlier response.
import {
  canonicalJson,
  defaultTenant,
  epochStartedFact,
  openSessionWriter,
  runStateView,
  type FleetRun,
  type JsonObject,
  type Message,
} from '../../core/index.ts';
import { getClientOptions, type ClientToolResult } from '../../fleet/index.ts';
import type { ServerContext } from '../http/context.ts';
import { createHttpError, throwInvalidParam } from '../http/errors.ts';
import { readKillSwitchStatus, findRunByIdempotencyKey, startRun } from '../http/runs.ts';
import type { RouteRequest } from '../http/route.ts';
import { withSessionReader } from '../../sessions/index.ts';
import { findActiveRun, readSessionState } from '../http/sessions.ts';
import { formatCallId, parseCallId } from './completion-result.ts';
import type { CompletionRequest, ToolOutputs } from './parse-request.ts';

/** A started run, and the sequence number after which its events begin. */
export type StartedRun = { readonly run: FleetRun; readonly from: number };

type StartRunRequest = Pick<RouteRequest, 'context' | 'caller' | 'headers'>;

/** Starts the run of a request. */
export async function startCompletionRun(route: StartRunRequest, request: CompletionRequest): Promise<StartedRun> {
  const { context } = route;
  const known = await findRunByIdempotencyKey(route);
  if (known) {
    const hasOutputs = getClientOptions(known.settings).results !== undefined;
    return { run: await enqueueRun(route, request, known.session, hasOutputs), from: 0 };
  }
  await assertKnownModel(context, request.model);
  const { stopped, reason } = await readKillSwitchStatus(context);
  if (stopped)
    throw createHttpError('server/busy', `The fleet is stopped${reason === undefined ? '.' : `: ${reason}`}`);
  const previous = await findPreviousSession(route, request);
  if (previous !== undefined) {
    const { seq } = await withSessionReader(context.store, previous, readSessionState);
    return { run: await enqueueRun(route, request, previous, request.toolOutputs !== undefined), from: seq };
  }
  if (request.history.length === 0) return { run: await enqueueRun(route, request), from: 0 };
  return { run: await enqueueRun(route, request, await writeHistory(context, request.history)), from: 0 };
}

/** Enqueues the run; `hasOutputs` if it continues a run with the outputs of its calls. */
function enqueueRun(
  route: StartRunRequest,
  { prompt, model, format, toolOutputs, ...request }: CompletionRequest,
  session?: string,
  hasOutputs = false,
): Promise<FleetRun> {
  const results = (toolOutputs?.results ?? []).map(({ id, text, failed }): ClientToolResult => ({
    call: parseCallId(id)?.call ?? id,
    text,
    ...(failed ? { failed } : {}),
  }));
  const client = { ...request.client, ...(hasOutputs ? { results } : {}) };
  return startRun(
    route,
    'run',
    {
      prompt: prompt === '' ? '(the client ran the tool calls)' : prompt,
      ...(model === undefined ? {} : { model }),
      ...(session === undefined ? {} : { session }),
    },
    {
      ...(format ? { answer: format.schema } : {}),
      ...(Object.keys(client).length > 0 ? { client: client as JsonObject } : {}),
    },
  );
}

/** Throws 404 if the model is unknown. */
export async function assertKnownModel({ models, isModel }: ServerContext, model: string | undefined): Promise<void> {
  if (model === undefined || (await models()).includes(model) || (await isModel(model))) return;
  throw createHttpError('server/no-model', `Unknown model: ${JSON.stringify(model.slice(0, 200))}.`, {
    param: 'model',
    hint: 'GET /v1/models lists the available models.',
  });
}

/** Returns the session that the request continues; undefined if it starts a new one. */
async function findPreviousSession(
  route: StartRunRequest,
  { previousResponseId, toolOutputs, history }: CompletionRequest,
): Promise<string | undefined> {
  if (previousResponseId === undefined) return toolOutputs && (await findSessionOfToolOutputs(route, toolOutputs));
  if (history.length > 0)
    throwInvalidParam('previous_response_id', 'Send either `previous_response_id` or the history, not both.');
  const run = await route.context.store.queue.run(previousResponseId.replace(/^resp_/, ''));
  if (!run)
    throw createHttpError('server/not-found', `Response not found: ${previousResponseId.slice(0, 200)}.`, {
      param: 'previous_response_id',
    });
  const outputs = new Set(toolOutputs?.results.map(({ id }) => id));
  const calls = run.outcome?.clientToolCalls ?? [];
  const open = calls.find(({ id }) => !outputs.has(formatCallId(run, id)));
  if (open) throwInvalidParam('input', `No tool output found for function call ${formatCallId(run, open.id)}.`);
  if (toolOutputs && (toolOutputs.run !== run.id || outputs.size > calls.length))
    throwInvalidParam('input', 'There is a tool output for a call that the response did not make.');
  if (!(await isLatestRun(route.context, run)))
    throw createHttpError('server/bad-request', 'Only the last response of a conversation can be continued.', {
      param: 'previous_response_id',
      hint: `Fork the session with POST /api/sessions/${run.session}/fork.`,
    });
  return run.session;
}

/** Returns the session of the run that made these calls, if it is the latest run and the client repeats its history and calls unchanged. */
async function findSessionOfToolOutputs(
  route: StartRunRequest,
  { run: id, calls = [], results, historyDigest }: ToolOutputs,
): Promise<string | undefined> {
  const run = await route.context.store.queue.run(id);
  const expected = run?.outcome?.clientToolCalls;
  if (!run || !expected || getClientOptions(run.settings).heard !== historyDigest) return undefined;
  if (!(await isLatestRun(route.context, run))) return undefined;
  const callsById = new Map(calls.map((each) => [each.id, each]));
  const answered = new Set(results.map((each) => each.id));
  const isSame = expected.every(({ id: call, tool, input }) => {
    const repeated = callsById.get(formatCallId(run, call));
    return (
      answered.has(formatCallId(run, call)) &&
      repeated?.tool === tool &&
      canonicalJson(repeated.input) === canonicalJson(input)
    );
  });
  return isSame && expected.length === calls.length ? run.session : undefined;
}

async function isLatestRun({ store }: ServerContext, run: FleetRun): Promise<boolean> {
  const [latest] = await store.queue.list({ session: run.session, limit: 1 });
  return latest?.id === run.id && !(await findActiveRun(store, run.session));
}

/** Creates a session that starts with a history, and returns its id; the worker's agent continues it. */
async function writeHistory({ store }: ServerContext, history: readonly Message[]): Promise<string> {
  const { session, log } = await store.sessions.create(defaultTenant);
  try {
    const writer = await openSessionWriter(log, runStateView());
    const nonce = crypto.randomUUID().slice(0, 8);
    await writer.record(
      (state) => [
        { type: 'session-started', session, nonce },
        epochStartedFact({ ...state, session, nonce }, 'started', history),
      ],
      { durable: true },
    );
    return session;
  } finally {
    await log.close();
  }
}
