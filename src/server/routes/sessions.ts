// The routes of sessions: listed, read, forked, edited, and spoken to.
import { z } from 'zod';
import { settleOpenCalls, toArray, type SessionInfo } from '../../core/index.ts';
import { mustHear } from '../../fleet/hearing.ts';
import { openBare } from '../bare-session.ts';
import { refused } from '../faults.ts';
import { leave, liveRunOf } from '../letters.ts';
import type { Place } from '../place.ts';
import { eventsAfter, mustBeIdle, stateOf, summaryOf, waitingIn, withReader } from '../reading.ts';
import { route, type Route } from '../route.ts';
import { from, most, name, shapes, words } from '../schemas.ts';

const waiting = z.object({
  call: z.string(),
  tool: z.string(),
  question: z.string(),
  kind: z.enum(['unknown-outcome', 'client-tool']).optional(),
  input: z.unknown(),
});
const summary = z.object({
  messages: z.number(),
  run: z.string().nullable(),
  ended: z.looseObject({ reason: z.string() }).nullable(),
  waiting: z.array(waiting),
  spent: shapes.Spent,
  model: z.string(),
  head: z.string().nullable(),
  seq: z.number(),
});
const made = z.object({ session: z.string() });
const told = z.object({ run: shapes.Run });

/** What a list tells of a session; made from its log where the list is long and it is not at its top. */
async function entryOf({ store }: Place, session: string): Promise<SessionInfo> {
  const listed = (await store.sessions.list({ most: 200 })).find((each) => each.session === session);
  if (listed) return listed;
  return withReader(store, session, async (log) => {
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
  route({
    method: 'get',
    path: '/api/sessions',
    role: 'reader',
    summary: 'Sessions, the one that changed last first.',
    shapes: { query: z.strictObject({ before: name.optional(), most }) },
    answers: { 200: z.object({ sessions: z.array(shapes.Session) }) },
    async handle({ place, query: { before, most: wanted = 100 } }) {
      const options = { most: wanted, ...(before === undefined ? {} : { before }) };
      return { json: { sessions: await place.store.sessions.list(options) } };
    },
  }),
  route({
    method: 'get',
    path: '/api/sessions/{id}',
    role: 'reader',
    summary: 'A session: its events after a seq, in the order written, and where it stands.',
    shapes: { query: z.strictObject({ from, most }) },
    answers: { 200: z.object({ session: shapes.Session, events: z.array(shapes.Event), state: summary }) },
    async handle({ place, params, query }) {
      const id = params['id'] ?? '';
      const read = await withReader(place.store, id, async (log) => {
        const state = await stateOf(log);
        const events = await eventsAfter(log, query.from ?? 0, state.seq, query.most ?? 500);
        return { events, state: summaryOf(state) };
      });
      return { json: { session: await entryOf(place, id), ...read } };
    },
  }),
  route({
    method: 'get',
    path: '/api/sessions/{id}/messages',
    role: 'reader',
    summary: 'What was said in a session, as it can be edited.',
    answers: { 200: z.object({ messages: z.array(shapes.Message) }) },
    async handle({ place, params }) {
      const state = await withReader(place.store, params['id'] ?? '', stateOf);
      const { messages } = settleOpenCalls(state, 'The conversation was edited before this call was settled.');
      return { json: { messages: toArray(messages) } };
    },
  }),
  route({
    method: 'post',
    path: '/api/sessions/{id}/fork',
    role: 'runner',
    summary: 'A new session that begins as this one stands, or stood at an event.',
    shapes: { body: z.strictObject({ at: z.string().min(1).max(200).optional() }) },
    answers: { 201: made },
    async handle({ place, params, body }) {
      const id = crypto.randomUUID();
      await withReader(place.store, params['id'] ?? '', async (log) => {
        const session = await openBare(log, place.views);
        const forked = await session.fork(await place.store.sessions.open(id, { holder: 'server' }), body.at, id);
        await forked.close();
      });
      return { status: 201, json: { session: id } };
    },
  }),
  route({
    method: 'post',
    path: '/api/sessions/{id}/edit',
    role: 'runner',
    summary: 'Replaces what was said by something else, as a new branch; only where no run is in the session.',
    shapes: { body: z.strictObject({ messages: z.array(shapes.Message).max(10_000) }) },
    answers: { 200: made },
    async handle({ place, params, body, caller }) {
      const id = params['id'] ?? '';
      await withReader(place.store, id, async () => undefined);
      await mustBeIdle(place.store, id);
      const session = await openBare(await place.store.sessions.open(id, { holder: 'server' }), place.views);
      try {
        await session.edit(body.messages, `by ${caller.name}`);
      } finally {
        await session.close();
      }
      return { json: { session: id } };
    },
  }),
  route({
    method: 'post',
    path: '/api/sessions/{id}/steer',
    role: 'runner',
    summary: 'Adds words to the run in a session.',
    shapes: { body: z.strictObject({ words, how: z.enum(['steer', 'follow-up', 'prompt']).optional() }) },
    answers: { 202: told },
    async handle({ place, params, body, caller }) {
      const letter = { type: body.how ?? 'steer', words: body.words, by: caller.name };
      return { status: 202, json: { run: await leave(place.store, params['id'] ?? '', letter) } };
    },
  }),
  route({
    method: 'post',
    path: '/api/sessions/{id}/answer',
    role: 'runner',
    summary: 'Answers a question that a run waits with. `happened` is for an effect whose outcome is unknown.',
    shapes: {
      body: z.strictObject({
        call: z.string().min(1).max(300),
        /** What was answered, as it was shown: where it asks something else by now, the answer is refused. */
        question: z.string().max(1_000_000).optional(),
        allowed: z.boolean(),
        happened: z.boolean().optional(),
      }),
    },
    answers: { 202: told },
    async handle({ place, params, body: { call, question, allowed, happened }, caller }) {
      const id = params['id'] ?? '';
      const live = await liveRunOf(place.store, id);
      if (live) await mustHear(place.store, live);
      const open = await withReader(place.store, id, async (log) => waitingIn(await stateOf(log)));
      const asked = open.find((each) => each['call'] === call)?.['question'];
      if (typeof asked !== 'string') throw refused('server/conflict', `No question is open for the call ${call}.`);
      if (question !== undefined && question !== asked)
        throw refused('server/conflict', `Something else is asked about the call ${call} by now.`, {
          hint: 'Read the question again, then answer it.',
        });
      const letter = { type: 'answer', call, question: asked, allowed, by: caller.name } as const;
      const run = await leave(place.store, id, happened === undefined ? letter : { ...letter, happened });
      return { status: 202, json: { run } };
    },
  }),
  route({
    method: 'post',
    path: '/api/sessions/{id}/cancel',
    role: 'runner',
    summary: 'Ends the run in a session.',
    answers: { 202: told },
    async handle({ place, params, caller }) {
      const run = await liveRunOf(place.store, params['id'] ?? '');
      if (!run) throw refused('server/conflict', 'No run is in this session.');
      const after = await place.store.queue.cancel(run.id, `Cancelled by ${caller.name}.`);
      return { status: 202, json: { run: after ?? run } };
    },
  }),
  route({
    method: 'get',
    path: '/api/approvals',
    role: 'reader',
    summary: 'The runs that wait for a person, and what each asks.',
    answers: {
      200: z.object({
        approvals: z.array(
          z.object({
            run: z.string(),
            session: z.string(),
            words: z.string(),
            since: z.string(),
            questions: z.array(waiting),
          }),
        ),
      }),
    },
    async handle({ place }) {
      const runs = await place.store.queue.list({ status: 'resting', most: 200 });
      const asking = runs.filter(({ questions }) => questions.length > 0);
      const approvals = await Promise.all(
        asking.map(async ({ id, session, words: asked, questions, started, queued }) => {
          const read = await withReader(place.store, session, stateOf).catch(() => undefined);
          const open = read ? waitingIn(read) : [];
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
