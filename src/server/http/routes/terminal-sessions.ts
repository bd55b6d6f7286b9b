// HTTP routes of the sessions of the user's terminal: read one, set its title, and copy one into the store to continue it. Only the owner's key on a local server has them.
import { z } from 'zod';
import { sessionLabelsKey } from '../../../core/index.ts';
import { collectEvents, renderTurnRequest, type TerminalSessions } from '../../../sessions/index.ts';
import { readEventsAfter } from '../bounded-lists.ts';
import type { ServerContext } from '../context.ts';
import { createHttpError } from '../errors.ts';
import { defineRoute, type Route } from '../route.ts';
import { apiSchemas, fromSeqSchema, maxItemsSchema } from '../schemas.ts';
import { openOfflineSession, readSessionState } from '../sessions.ts';
import { cacheLedgerSchema, createCacheLedger } from './session-cache.ts';
import { parseTurn, turnRequestSchema } from './turn-request.ts';

const terminalSessionSchema = z.object({
  session: z.string(),
  name: z.string(),
  title: z.string().exactOptional(),
  folder: z.string().exactOptional(),
  model: z.string().exactOptional(),
  createdAt: z.string(),
  updatedAt: z.string(),
  events: z.number(),
});

/** Returns the sessions of the terminal; throws 404, as for a session that does not exist, if the key may not know of them. */
export function requireTerminalSessions({ terminalSessions }: ServerContext): TerminalSessions {
  if (terminalSessions) return terminalSessions;
  throw createHttpError('server/not-found', 'This key sees no sessions of the terminal.', {
    hint: 'Use the key of the user who started the server, on the machine of the server.',
  });
}

/** The routes of the sessions of the terminal. */
export const terminalSessionRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/terminal-sessions/{id}',
    role: 'operator',
    summary: 'A session of the terminal: its events after a sequence number, in the order written.',
    schemas: { query: z.strictObject({ from: fromSeqSchema, limit: maxItemsSchema }) },
    responses: { 200: z.object({ session: terminalSessionSchema, events: z.array(apiSchemas.Event) }) },
    async handle({ context, params, query }) {
      const json = await requireTerminalSessions(context).read(params['id'] ?? '', async (log, session) => {
        const { seq } = await readSessionState(log);
        return { session, events: await readEventsAfter(log, query.from ?? 0, seq, query.limit ?? 500) };
      });
      return { json };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/terminal-sessions/{id}/requests/{turn}',
    role: 'operator',
    summary: 'The request of a turn of a session of the terminal, as the model got it.',
    responses: { 200: turnRequestSchema },
    async handle({ context, params }) {
      const turn = parseTurn(params['turn']);
      const json = await requireTerminalSessions(context).read(params['id'] ?? '', async (log) =>
        renderTurnRequest(await collectEvents(log, (await readSessionState(log)).seq), turn),
      );
      return { json };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/terminal-sessions/{id}/cache',
    role: 'operator',
    summary: 'The cache ledger of a session of the terminal.',
    responses: { 200: cacheLedgerSchema },
    async handle({ context, params }) {
      const json = await requireTerminalSessions(context).read(params['id'] ?? '', async (log) =>
        createCacheLedger(await collectEvents(log, (await readSessionState(log)).seq)),
      );
      return { json };
    },
  }),
  defineRoute({
    method: 'put',
    path: '/api/terminal-sessions/{id}/title',
    role: 'operator',
    summary: 'Sets the title of a session of the terminal; 409 while a program has the session open.',
    schemas: { body: z.strictObject({ title: z.string().trim().min(1).max(300) }) },
    responses: { 200: z.object({ session: z.string() }) },
    async handle({ context, params, body: { title } }) {
      const id = params['id'] ?? '';
      await requireTerminalSessions(context).setTitle(id, title);
      return { json: { session: id } };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/api/terminal-sessions/{id}/copy',
    role: 'operator',
    summary: 'Copies a session of the terminal into the store, to continue it here; the original is not changed.',
    schemas: { body: z.strictObject({}) },
    responses: { 201: z.object({ session: z.string() }) },
    async handle({ context, params }) {
      const session = await requireTerminalSessions(context).read(params['id'] ?? '', async (original, { title }) => {
        const source = await openOfflineSession(original, context.views);
        const { session: id, log } = await context.store.sessions.create();
        const copy = await source.fork({ log, id });
        if (title !== undefined) await copy.annotate(sessionLabelsKey, { title });
        await copy.close();
        return id;
      });
      return { status: 201, json: { session } };
    },
  }),
];
