// HTTP routes of replays: a recorded session is replayed and compared, offline, or for an operator from a turn on with a live model. No tool is ever run.
import { realpath } from 'node:fs/promises';
import { z } from 'zod';
import { parseSubagentMetadata } from '../../../agent/subagents/index.ts';
import { isPathInside, type Event } from '../../../core/index.ts';
import {
  alignSides,
  collectEvents,
  replaySession,
  withSessionReader,
  type SessionReplay,
} from '../../../sessions/index.ts';
import { assertKnownModel } from '../../openai/start-run.ts';
import type { ServerContext } from '../context.ts';
import { createHttpError } from '../errors.ts';
import { hasRole, type Caller } from '../keys.ts';
import { defineRoute, type Route } from '../route.ts';
import { readSessionState } from '../sessions.ts';
import { requireTerminalSessions } from './terminal-sessions.ts';

/** The max number of events of a replayed session, of differences in a response, of rows of one, and of characters of a line. */
const maxEvents = 50_000;
const maxDifferences = 100;
const maxRows = 120;
const maxLineChars = 1000;
/** The max number of replays at the same time: each uses the processor. */
const maxReplays = 2;
/** Milliseconds after which a live replay is stopped. */
const maxLiveMs = 10 * 60_000;

const replayBody = z.strictObject({
  live: z
    .strictObject({
      from: z.number().int().min(1).max(1_000_000_000),
      model: z.string().min(1).max(200).exactOptional(),
    })
    .exactOptional(),
});

const replaySchema = z.object({
  session: z.string(),
  model: z.string(),
  turns: z.number(),
  identical: z.boolean(),
  differences: z.array(
    z.object({
      turn: z.number(),
      where: z.string(),
      rows: z.array(z.tuple([z.string(), z.string()])),
      before: z.number(),
      after: z.number(),
      isCut: z.boolean(),
    }),
  ),
  totalDifferences: z.number(),
  live: z.object({ from: z.number(), model: z.string(), turns: z.number(), usd: z.number() }).exactOptional(),
  stopped: z.string().exactOptional(),
});

type ReplayBody = z.infer<typeof replayBody>;
type Session = { readonly events: readonly Event[]; readonly isComparable: boolean };

const activeReplays = new WeakMap<AbortSignal, number>();

/** Replays a session within the limits. */
async function replay(
  {
    context,
    caller,
    signal,
  }: { readonly context: ServerContext; readonly caller: Caller; readonly signal: AbortSignal },
  { live }: ReplayBody,
  read: () => Promise<Session>,
): Promise<unknown> {
  if (live) await assertMayReplayLive(context, caller, live.model);
  const active = activeReplays.get(context.shutdownSignal) ?? 0;
  if (active >= maxReplays) throw createHttpError('server/too-many', 'Other replays are active.', { afterMs: 5000 });
  activeReplays.set(context.shutdownSignal, active + 1);
  try {
    const { events, isComparable } = await read();
    if (events.length > maxEvents)
      throw createHttpError('server/too-large', `The session has more than ${maxEvents} events.`, {
        hint: 'Replay it in the terminal with fairlead replay.',
      });
    const limit = AbortSignal.any([signal, AbortSignal.timeout(maxLiveMs)]);
    const model = live && (live.model ?? (await context.models())[0]);
    return toResponse(
      context.replay
        ? await context.replay(events, {
            isComparable,
            ...(live ? { from: live.from } : {}),
            ...(model === undefined ? {} : { model }),
            signal: limit,
          })
        : await replaySession(events),
    );
  } finally {
    activeReplays.set(context.shutdownSignal, (activeReplays.get(context.shutdownSignal) ?? 1) - 1);
  }
}

/** A live replay sends the session to a model and costs money that no budget of a tenant counts. */
async function assertMayReplayLive(context: ServerContext, caller: Caller, model: string | undefined): Promise<void> {
  if (!hasRole(caller.role, 'operator'))
    throw createHttpError('server/role', 'A replay with a live model needs the role operator.');
  context.store.assertWholeFleet();
  if (!context.replay) throw createHttpError('server/conflict', 'This server has no models for a replay.');
  if ((await context.store.killSwitch.status()).stopped)
    throw createHttpError('server/blocked', 'All runs are stopped, and so are replays with a live model.');
  await assertKnownModel(context, model);
}

function toResponse({ differences, ...replayed }: SessionReplay): unknown {
  return {
    ...replayed,
    differences: differences.slice(0, maxDifferences).map(({ turn, where, ...sides }) => {
      const { rows, ...rest } = alignSides(sides, maxRows);
      const cutLine = (line: string): string =>
        line.length <= maxLineChars ? line : `${line.slice(0, maxLineChars).toWellFormed()}…`;
      return { turn, where, ...rest, rows: rows.map(([a, b]) => [cutLine(a), cutLine(b)]) };
    }),
    totalDifferences: differences.length,
  };
}

/** Whether the folder of a session is one that runs of this server may work in: only then are its current files read. */
async function isInFolders(events: readonly Event[], folders: readonly string[]): Promise<boolean> {
  const folder = events.findLast((event) => event.type === 'epoch-started')?.cwd;
  const found = folder === undefined ? undefined : await realpath(folder).catch(() => undefined);
  return found !== undefined && folders.some((each) => isPathInside(each, found));
}

/** The routes of replays. */
export const replayRoutes: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/api/sessions/{id}/replay',
    role: 'runner',
    summary:
      'Replays a session with its recorded answers and tool results, and compares each request with the one that would be sent now; nothing is run, sent or changed. `live` lets a model answer from a turn on, for an operator without a tenant; tools return recorded results, and a call without one stops the replay.',
    schemas: { body: replayBody },
    responses: { 200: replaySchema },
    handle: async ({ body, params, ...request }) => ({
      json: await replay(request, body, async () => {
        const { store, folders } = request.context;
        const events = await withSessionReader(store, params['id'] ?? '', async (log) =>
          collectEvents(log, (await readSessionState(log)).seq),
        );
        return { events, isComparable: await isInFolders(events, folders) };
      }),
    }),
  }),
  defineRoute({
    method: 'post',
    path: '/api/terminal-sessions/{id}/replay',
    role: 'operator',
    summary: 'Replays a session of the terminal.',
    schemas: { body: replayBody },
    responses: { 200: replaySchema },
    handle: async ({ body, params, ...request }) => ({
      json: await replay(request, body, async () => {
        const { main } = await requireTerminalSessions(request.context).readTree(params['id'] ?? '');
        const isSubagent = main.events.some((event) => parseSubagentMetadata(event) !== undefined);
        return { events: main.events, isComparable: !isSubagent };
      }),
    }),
  }),
];
