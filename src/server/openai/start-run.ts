// A run for a client of OpenAI's endpoints: in a session that begins with what the client says was said, or goes on with an earlier answer.
import {
  canonicalJson,
  epochStartedFact,
  openSessionWriter,
  runStateView,
  type FleetRun,
  type JsonObject,
  type Message,
} from '../../core/index.ts';
import { getClientOptions, type ClientToolResult } from '../../fleet/index.ts';
import { createHttpError } from '../http/errors.ts';
import { findActiveRun } from '../http/session-messages.ts';
import type { ServerContext } from '../http/context.ts';
import { readSessionState, withSessionReader } from '../http/session-reader.ts';
import { readKillSwitchStatus } from '../http/kill-switch-status.ts';
import { startRun, findRunByIdempotencyKey } from '../http/runs.ts';
import type { RouteRequest } from '../http/route.ts';
import { parseCallId, formatCallId } from './call-ids.ts';
import type { CompletionRequest, ToolOutputs } from './parse-request.ts';
import { throwInvalidParam } from './errors.ts';

/** A run that was begun, and the seq after which it is heard. */
export type StartedRun = { readonly run: FleetRun; readonly from: number };

type StartRunRequest = Pick<RouteRequest, 'context' | 'caller' | 'headers'>;

/** Begins the run of a conversation. */
export async function startCompletionRun(asked: StartRunRequest, talk: CompletionRequest): Promise<StartedRun> {
  const { context } = asked;
  const known = await findRunByIdempotencyKey(asked);
  // Its session is its own: what was said before the words is not looked at.
  if (known) {
    const isBack = getClientOptions(known.settings).results !== undefined;
    return { run: await enqueueCompletionRun(asked, talk, known.session, isBack), from: 0 };
  }
  await assertKnownModel(context, talk.model);
  const { stopped, reason: why } = await readKillSwitchStatus(context);
  if (stopped) throw createHttpError('server/busy', `The fleet is stopped${why === undefined ? '.' : `: ${why}`}`);
  const before = await findPreviousSession(asked, talk);
  if (before !== undefined) {
    const { seq } = await withSessionReader(context.store, before, readSessionState);
    return { run: await enqueueCompletionRun(asked, talk, before, talk.toolOutputs !== undefined), from: seq };
  }
  if (talk.history.length === 0) return { run: await enqueueCompletionRun(asked, talk), from: 0 };
  const session = crypto.randomUUID();
  await writeHistory(context, session, talk.history);
  return { run: await enqueueCompletionRun(asked, talk, session), from: 0 };
}

/** Begins a run in a session, with what came of the calls that the run before it handed out. */
function enqueueCompletionRun(
  asked: StartRunRequest,
  talk: CompletionRequest,
  session?: string,
  isBack = false,
): Promise<FleetRun> {
  const { prompt, model, format, toolOutputs } = talk;
  const results = (toolOutputs?.results ?? []).map(({ id, text, failed }): ClientToolResult => ({
    call: parseCallId(id)?.call ?? id,
    text,
    ...(failed ? { failed } : {}),
  }));
  const client = { ...talk.client, ...(isBack ? { results } : {}) };
  return startRun(
    asked,
    'run',
    {
      prompt: prompt === '' ? '(the client has made the calls)' : prompt,
      ...(model === undefined ? {} : { model }),
      ...(session === undefined ? {} : { session }),
    },
    {
      ...(format ? { answer: format.schema } : {}),
      ...(Object.keys(client).length > 0 ? { client: client as JsonObject } : {}),
    },
  );
}

/** Throws where nobody has heard of a model: a run with it would only end with that. */
export async function assertKnownModel({ models, isModel }: ServerContext, model: string | undefined): Promise<void> {
  if (model === undefined || (await models()).includes(model) || (await isModel(model))) return;
  throw createHttpError('server/no-model', `There is no model ${JSON.stringify(model.slice(0, 200))} here.`, {
    param: 'model',
    hint: 'GET /v1/models lists those that there are.',
  });
}

/** The session that a conversation goes on in; nothing where it begins one with what the client says was said. */
async function findPreviousSession(
  asked: StartRunRequest,
  { previousResponseId, toolOutputs, history }: CompletionRequest,
): Promise<string | undefined> {
  if (previousResponseId === undefined) return toolOutputs && (await findSessionOfToolOutputs(asked, toolOutputs));
  if (history.length > 0)
    throwInvalidParam('previous_response_id', 'Say what is new, or all that was said, but not both.');
  const run = await findRunForCaller(asked, previousResponseId.replace(/^resp_/, ''));
  if (!run)
    throw createHttpError('server/not-found', `There is no answer ${previousResponseId.slice(0, 200)}.`, {
      param: 'previous_response_id',
    });
  const brought = new Set(toolOutputs?.results.map(({ id }) => id));
  const open = run.outcome?.clientToolCalls?.find(({ id }) => !brought.has(formatCallId(run, id)));
  if (open) throwInvalidParam('input', `No tool output found for function call ${formatCallId(run, open.id)}.`);
  if (toolOutputs && (toolOutputs.run !== run.id || brought.size > (run.outcome?.clientToolCalls?.length ?? 0)))
    throwInvalidParam('input', 'There is an output of a call that this answer has not made.');
  if (!(await isLatestRun(asked.context, run)))
    throw createHttpError('server/bad-request', 'Only the last answer of a conversation can be gone on with.', {
      param: 'previous_response_id',
      hint: `Fork the session with POST /api/sessions/${run.session}/fork.`,
    });
  return run.session;
}

/** The session of the run that handed these calls out, where nothing was said since and the client tells the same story of it. */
async function findSessionOfToolOutputs(
  asked: StartRunRequest,
  { run: id, calls = [], results, historyDigest }: ToolOutputs,
): Promise<string | undefined> {
  const run = await findRunForCaller(asked, id);
  const handed = run?.outcome?.clientToolCalls;
  if (
    !run ||
    !handed ||
    getClientOptions(run.settings).heard !== historyDigest ||
    !(await isLatestRun(asked.context, run))
  )
    return undefined;
  const isSame = handed.every(({ id: call, tool, input }) => {
    const made = calls.find((each) => each.id === formatCallId(run, call));
    const isBack = results.some((each) => each.id === formatCallId(run, call));
    return isBack && made?.tool === tool && canonicalJson(made.input) === canonicalJson(input);
  });
  return isSame && handed.length === calls.length ? run.session : undefined;
}

/** A run that this caller may go on with. */
export async function findRunForCaller(
  { context, caller }: Pick<RouteRequest, 'context' | 'caller'>,
  id: string,
): Promise<FleetRun | undefined> {
  const run = await context.store.queue.run(id);
  return caller.tenant === undefined || run?.tenant === caller.tenant ? run : undefined;
}

async function isLatestRun({ store }: ServerContext, run: FleetRun): Promise<boolean> {
  const [latest] = await store.queue.list({ session: run.session, limit: 1 });
  return latest?.id === run.id && !(await findActiveRun(store, run.session));
}

/** Begins a session with what was said elsewhere; the worker's agent takes it over as its own. */
async function writeHistory({ store }: ServerContext, session: string, history: readonly Message[]): Promise<void> {
  const log = await store.sessions.open(session, { holder: 'server' });
  try {
    const head = await openSessionWriter(log, runStateView());
    const nonce = crypto.randomUUID().slice(0, 8);
    await head.record(
      (state) => [
        { type: 'session-started', session, nonce },
        epochStartedFact({ ...state, session, nonce }, 'started', history),
      ],
      { durable: true },
    );
  } finally {
    await log.close();
  }
}
