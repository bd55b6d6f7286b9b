// The routes of sessions: listed, read, forked, edited, and spoken to.
import { z } from 'zod';
import { settleOpenCalls, toArray, type SessionInfo } from '../../../core/index.ts';
import { assertAcceptsMessages } from '../../../fleet/message-targets.ts';
import { openOfflineSession } from '../offline-session.ts';
import { createHttpError } from '../errors.ts';
import { sendToSession, findActiveRun } from '../session-messages.ts';
import type { ServerContext } from '../context.ts';
import {
  readEventsAfter,
  assertNoActiveRun,
  readSessionState,
  summarizeSessionState,
  listPendingQuestions,
  withSessionReader,
} from '../session-reader.ts';
import { defineRoute, type Route } from '../route.ts';
import { fromSeqSchema, maxItemsSchema, nameSchema, apiSchemas, promptSchema } from '../schemas.ts';

const pendingQuestionSchema = z.object({
  call: z.string(),
  tool: z.string(),
  question: z.string(),
  kind: z.enum(['unknown-outcome', 'client-tool']).optional(),
  input: z.unknown(),
});
const summarySchema = z.object({
  messages: z.number(),
  run: z.string().nullable(),
  ended: z.looseObject({ reason: z.string() }).nullable(),
  waiting: z.array(pendingQuestionSchema),
  spent: apiSchemas.Spent,
  model: z.string(),
  head: z.string().nullable(),
  seq: z.number(),
});
const sessionIdSchema = z.object({ session: z.string() });
const runResponseSchema = z.object({ run: apiSchemas.Run });

/** What a list tells of a session; made from its log where the list is long and it is not at its top. */
async function getSessionEntry({ store }: ServerContext, session: string): Promise<SessionInfo> {
  const listed = (await store.sessions.list({ most: 200 })).find((each) => each.session === session);
  if (listed) return listed;
  return withSessionReader(store, session, async (log) => {
    const times: string[] = [];
    let events = 0;
    for await (const batch of log.read()) {
      times.push(...batch.map(({ time }) => time));
      events = batch.at(-1)?.seq ?? events;
    }
    return { session, begun: times[0] ?? '', changed: times.at(-1) ?? '', events };
  });
}

/** The routes of sessions and of what waits for a person. */
export const sessionRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/sessions',
    role: 'reader',
    summary: 'Sessions, the one that changed last first.',
    schemas: { query: z.strictObject({ before: nameSchema.optional(), most: maxItemsSchema }) },
    responses: { 200: z.object({ sessions: z.array(apiSchemas.Session) }) },
    async handle({ context, query: { before, most: wanted = 100 } }) {
      const options = { most: wanted, ...(before === undefined ? {} : { before }) };
      return { json: { sessions: await context.store.sessions.list(options) } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/sessions/{id}',
    role: 'reader',
    summary: 'A session: its events after a seq, in the order written, and where it stands.',
    schemas: { query: z.strictObject({ from: fromSeqSchema, most: maxItemsSchema }) },
    responses: {
      200: z.object({ session: apiSchemas.Session, events: z.array(apiSchemas.Event), state: summarySchema }),
    },
    async handle({ context, params, query }) {
      const id = params['id'] ?? '';
      const read = await withSessionReader(context.store, id, async (log) => {
        const state = await readSessionState(log);
        const events = await readEventsAfter(log, query.from ?? 0, state.seq, query.most ?? 500);
        return { events, state: summarizeSessionState(state) };
      });
      return { json: { session: await getSessionEntry(context, id), ...read } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/sessions/{id}/messages',
    role: 'reader',
    summary: 'What was said in a session, as it can be edited.',
    responses: { 200: z.object({ messages: z.array(apiSchemas.Message) }) },
    async handle({ context, params }) {
      const state = await withSessionReader(context.store, params['id'] ?? '', readSessionState);
      const { messages } = settleOpenCalls(state, 'The conversation was edited before this call was settled.');
      return { json: { messages: toArray(messages) } };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/sessions/{id}/fork',
    role: 'runner',
    summary: 'A new session that begins as this one stands, or stood at an event.',
    schemas: { body: z.strictObject({ at: z.string().min(1).max(200).optional() }) },
    responses: { 201: sessionIdSchema },
    async handle({ context, params, body }) {
      const id = crypto.randomUUID();
      await withSessionReader(context.store, params['id'] ?? '', async (log) => {
        const session = await openOfflineSession(log, context.views);
        const forked = await session.fork(await context.store.sessions.open(id, { holder: 'server' }), body.at, id);
        await forked.close();
      });
      return { status: 201, json: { session: id } };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/sessions/{id}/edit',
    role: 'runner',
    summary: 'Replaces what was said by something else, as a new branch; only where no run is in the session.',
    schemas: { body: z.strictObject({ messages: z.array(apiSchemas.Message).max(10_000) }) },
    responses: { 200: sessionIdSchema },
    async handle({ context, params, body, caller }) {
      const id = params['id'] ?? '';
      await withSessionReader(context.store, id, async () => undefined);
      await assertNoActiveRun(context.store, id);
      const session = await openOfflineSession(
        await context.store.sessions.open(id, { holder: 'server' }),
        context.views,
      );
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
    summary: 'Adds words to the run in a session.',
    schemas: {
      body: z.strictObject({ words: promptSchema, how: z.enum(['steer', 'follow-up', 'prompt']).optional() }),
    },
    responses: { 202: runResponseSchema },
    async handle({ context, params, body, caller }) {
      const letter = { type: body.how ?? 'steer', words: body.words, by: caller.name };
      return { status: 202, json: { run: await sendToSession(context.store, params['id'] ?? '', letter) } };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/sessions/{id}/answer',
    role: 'runner',
    summary: 'Answers a question that a run waits with. `happened` is for an effect whose outcome is unknown.',
    schemas: {
      body: z.strictObject({
        call: z.string().min(1).max(300),
        /** What was answered, as it was shown: where it asks something else by now, the answer is refused. */
        question: z.string().max(1_000_000).optional(),
        allowed: z.boolean(),
        happened: z.boolean().optional(),
      }),
    },
    responses: { 202: runResponseSchema },
    async handle({ context, params, body: { call, question, allowed, happened }, caller }) {
      const id = params['id'] ?? '';
      const live = await findActiveRun(context.store, id);
      if (live) await assertAcceptsMessages(context.store, live);
      const open = await withSessionReader(context.store, id, async (log) =>
        listPendingQuestions(await readSessionState(log)),
      );
      const asked = open.find((each) => each['call'] === call)?.['question'];
      if (typeof asked !== 'string')
        throw createHttpError('server/conflict', `No question is open for the call ${call}.`);
      if (question !== undefined && question !== asked)
        throw createHttpError('server/conflict', `Something else is asked about the call ${call} by now.`, {
          hint: 'Read the question again, then answer it.',
        });
      const letter = { type: 'answer', call, question: asked, allowed, by: caller.name } as const;
      const run = await sendToSession(context.store, id, happened === undefined ? letter : { ...letter, happened });
      return { status: 202, json: { run } };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/sessions/{id}/cancel',
    role: 'runner',
    summary: 'Ends the run in a session.',
    responses: { 202: runResponseSchema },
    async handle({ context, params, caller }) {
      const run = await findActiveRun(context.store, params['id'] ?? '');
      if (!run) throw createHttpError('server/conflict', 'No run is in this session.');
      const after = await context.store.queue.cancel(run.id, `Cancelled by ${caller.name}.`);
      return { status: 202, json: { run: after ?? run } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/approvals',
    role: 'reader',
    summary: 'The runs that wait for a person, and what each asks.',
    responses: {
      200: z.object({
        approvals: z.array(
          z.object({
            run: z.string(),
            session: z.string(),
            words: z.string(),
            since: z.string(),
            questions: z.array(pendingQuestionSchema),
          }),
        ),
      }),
    },
    async handle({ context }) {
      const runs = await context.store.queue.list({ status: 'resting', most: 200 });
      const asking = runs.filter(({ questions }) => questions.length > 0);
      const approvals = await Promise.all(
        asking.map(async ({ id, session, words: asked, questions, started, queued }) => {
          const read = await withSessionReader(context.store, session, readSessionState).catch(() => undefined);
          const open = read ? listPendingQuestions(read) : [];
          const inputs = new Map(open.map((each) => [each['call'], each['input']]));
          return {
            run: id,
            session,
            words: asked,
            since: started ?? queued,
            questions: questions.map((each) => ({ ...each, input: inputs.get(each.call) ?? null })),
          };
        }),
      );
      return { json: { approvals } };
    },
  }),
];
