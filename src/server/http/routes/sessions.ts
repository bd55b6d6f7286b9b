// HTTP routes of sessions: list, read, follow, fork, edit, send messages, cancel.
import { z } from 'zod';
import { closeOpenCalls, sessionLabelsKey, toArray } from '../../../core/index.ts';
import {
  openOfflineSession,
  assertNoActiveRun,
  findActiveRun,
  sendToSession,
  readSessionState,
  summarizeSessionState,
  assertSessionExists,
} from '../sessions.ts';
import { collectEvents, renderTurnRequest, withSessionReader } from '../../../sessions/index.ts';
import { readEventsAfter } from '../bounded-lists.ts';
import { createHttpError } from '../errors.ts';
import { defineRoute, type Route } from '../route.ts';
import { fromSeqSchema, maxItemsSchema, nameSchema, apiSchemas, promptSchema } from '../schemas.ts';
import { formatSessionMessages } from '../replay-buffer.ts';
import { parseResumeSeq, sendSse } from '../sse.ts';
import { requireRun } from '../runs.ts';
import { listSessionEntries, sessionListQuery } from '../session-list.ts';
import { pendingApprovalSchema } from './approvals.ts';
import { cacheLedgerSchema, createCacheLedger } from './session-cache.ts';
import { parseTurn, turnRequestSchema } from './turn-request.ts';

const summarySchema = z.object({
  messages: z.number(),
  run: z.string().nullable(),
  ended: z.looseObject({ reason: z.string() }).nullable(),
  pendingApprovals: z.array(pendingApprovalSchema),
  spent: apiSchemas.Usage,
  model: z.string(),
  head: z.string().nullable(),
  seq: z.number(),
});
const sessionListSchema = z.object({
  sessions: z.array(
    z.object({
      session: z.string(),
      source: z.enum(['server', 'terminal']),
      name: z.string().exactOptional(),
      title: z.string().exactOptional(),
      folder: z.string().exactOptional(),
      model: z.string().exactOptional(),
      status: z.string().exactOptional(),
      reason: z.string().exactOptional(),
      createdAt: z.string(),
      updatedAt: z.string(),
      events: z.number(),
      tenant: z.string().exactOptional(),
      holder: z.string().exactOptional(),
    }),
  ),
  next: z.object({ before: z.string().exactOptional(), beforeTerminal: z.string().exactOptional() }).exactOptional(),
});
const sessionIdSchema = z.object({ session: z.string() });
const runResponseSchema = z.object({ run: apiSchemas.Run });

/** The routes of sessions. */
export const sessionRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/sessions',
    role: 'reader',
    summary:
      'Sessions, last changed first, with title, folder and the status of the last run; `q` searches them. `source` is `server`, or for the owner of a local server `terminal` or `all`. Send the fields of `next` for the next page.',
    schemas: { query: sessionListQuery },
    responses: { 200: sessionListSchema },
    handle: async ({ context, query }) => ({ json: await listSessionEntries(context, query) }),
  }),
  defineRoute({
    method: 'get',
    path: '/api/sessions/{id}',
    role: 'reader',
    summary: 'A session: its events after a sequence number, in the order written, and a summary of its state.',
    schemas: { query: z.strictObject({ from: fromSeqSchema, limit: maxItemsSchema }) },
    responses: {
      200: z.object({ session: apiSchemas.Session, events: z.array(apiSchemas.Event), state: summarySchema }),
    },
    async handle({ context, params, query }) {
      const id = params['id'] ?? '';
      const read = await withSessionReader(context.store, id, async (log) => {
        const state = await readSessionState(log);
        const events = await readEventsAfter(log, query.from ?? 0, state.seq, query.limit ?? 500);
        return { events, state: summarizeSessionState(state) };
      });
      return { json: { session: await context.store.sessions.find(id), ...read } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/sessions/{id}/messages',
    role: 'reader',
    summary: 'The messages of a session, in the form that the edit route accepts.',
    responses: { 200: z.object({ messages: z.array(apiSchemas.Message) }) },
    async handle({ context, params }) {
      const state = await withSessionReader(context.store, params['id'] ?? '', readSessionState);
      const { messages } = closeOpenCalls(state, 'The conversation was edited before this call had a result.');
      return { json: { messages: toArray(messages) } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/sessions/{id}/requests/{turn}',
    role: 'reader',
    summary: 'The request of a turn as the model got it: instructions, tools and messages.',
    responses: { 200: turnRequestSchema },
    async handle({ context, params }) {
      const turn = parseTurn(params['turn']);
      const events = await withSessionReader(context.store, params['id'] ?? '', async (log) =>
        collectEvents(log, (await readSessionState(log)).seq),
      );
      return { json: renderTurnRequest(events, turn) };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/sessions/{id}/cache',
    role: 'reader',
    summary:
      'The cache ledger: what the prompt cache of the provider saved or lost in each turn, and why a prefix broke.',
    responses: { 200: cacheLedgerSchema },
    async handle({ context, params }) {
      const events = await withSessionReader(context.store, params['id'] ?? '', async (log) =>
        collectEvents(log, (await readSessionState(log)).seq),
      );
      return { json: createCacheLedger(events) };
    },
  }),
  defineRoute({
    method: 'put',
    path: '/api/sessions/{id}/title',
    role: 'runner',
    summary: 'Sets the title of a session; 409 if the session has an active run.',
    schemas: { body: z.strictObject({ title: z.string().trim().min(1).max(300) }) },
    responses: { 200: sessionIdSchema },
    async handle({ context, params, body: { title } }) {
      const id = params['id'] ?? '';
      await withSessionReader(context.store, id, async () => undefined);
      await assertNoActiveRun(context.store, id, 'Set the title when the run has ended.');
      const session = await openOfflineSession(await context.store.sessions.open(id), context.views);
      try {
        await session.annotate(sessionLabelsKey, { title });
      } finally {
        await session.close();
      }
      return { json: { session: id } };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/sessions/{id}/fork',
    role: 'runner',
    summary: 'Creates a session with the history of this one, up to now or up to an event.',
    schemas: { body: z.strictObject({ at: z.string().min(1).max(200).optional() }) },
    responses: { 201: sessionIdSchema },
    async handle({ context, params, body }) {
      const { sessions } = context.store;
      const source = params['id'] ?? '';
      const id = await withSessionReader(context.store, source, async (original) => {
        const session = await openOfflineSession(original, context.views);
        const { session: forkId, log } = await sessions.create((await sessions.find(source))?.tenant);
        await (await session.fork({ log, at: body.at, id: forkId })).close();
        return forkId;
      });
      return { status: 201, json: { session: id } };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/sessions/{id}/edit',
    role: 'runner',
    summary: 'Replaces the messages of a session, as a new branch; 409 if the session has an active run.',
    schemas: { body: z.strictObject({ messages: z.array(apiSchemas.Message).max(10_000) }) },
    responses: { 200: sessionIdSchema },
    async handle({ context, params, body, caller }) {
      const id = params['id'] ?? '';
      await withSessionReader(context.store, id, async () => undefined);
      await assertNoActiveRun(context.store, id, 'Cancel it first, or fork the session.');
      const session = await openOfflineSession(await context.store.sessions.open(id), context.views);
      try {
        await session.edit(body.messages, `by ${caller.name}`);
      } finally {
        await session.close();
      }
      return { json: { session: id } };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/sessions/{id}/steer',
    role: 'runner',
    summary: 'Sends a message to the active run of a session.',
    schemas: {
      body: z.strictObject({ text: promptSchema, mode: z.enum(['steer', 'follow-up', 'prompt']).optional() }),
    },
    responses: { 202: runResponseSchema },
    async handle({ context, params, body, caller }) {
      const message = { type: body.mode ?? 'steer', text: body.text, by: caller.name };
      return { status: 202, json: { run: await sendToSession(context.store, params['id'] ?? '', message) } };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/sessions/{id}/cancel',
    role: 'runner',
    summary: 'Cancels the active run of a session.',
    responses: { 202: runResponseSchema },
    async handle({ context, params, caller }) {
      const id = params['id'] ?? '';
      await assertSessionExists(context.store, id);
      const run = await findActiveRun(context.store, id);
      if (!run) throw createHttpError('server/conflict', 'No active run in this session.');
      const after = await context.store.queue.cancel(run.id, `Cancelled by ${caller.name}.`);
      return { status: 202, json: { run: after ?? run } };
    },
  }),
];

/** The event stream route. */
export const streamRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/stream',
    role: 'reader',
    summary:
      'Streams the events of a run or a session after a sequence number (`from` or `Last-Event-ID`): `event`, `chunk` (partial text), `run`, `end`.',
    schemas: {
      query: z.strictObject({ run: nameSchema.optional(), session: nameSchema.optional(), from: fromSeqSchema }),
    },
    responses: { 200: 'text/event-stream' },
    async handle({ context, query, headers, signal }) {
      if ((query.run === undefined) === (query.session === undefined))
        throw createHttpError('server/bad-request', 'Give either `run` or `session`.');
      const last = headers['last-event-id'];
      const after = parseResumeSeq(Array.isArray(last) ? last[0] : last, query.from);
      const run = query.run === undefined ? undefined : await requireRun(context, query.run);
      if (query.session !== undefined) await assertSessionExists(context.store, query.session);
      const target = run ? { session: run.session, run: run.id } : { session: query.session ?? '' };
      const { pingMs, stallMs } = context.limits;
      return {
        stream: (outgoing) =>
          sendSse(outgoing, formatSessionMessages(context.broadcasters.subscribe(target, after, signal)), {
            signal,
            pingMs,
            stallMs,
            closingComment: () =>
              context.shutdownSignal.aborted ? 'the server is shutting down; reconnect later' : undefined,
          }),
      };
    },
  }),
];
