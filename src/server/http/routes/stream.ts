// HTTP route that streams the events of a run or a session as server-sent events; a client can resume after a sequence number.
import { z } from 'zod';
import { createHttpError } from '../errors.ts';
import { defineRoute, type Route } from '../route.ts';
import { fromSeqSchema, nameSchema } from '../schemas.ts';
import { formatSessionMessages } from '../session-message.ts';
import { parseResumeSeq, sendSse } from '../sse.ts';
import { requireRun } from '../runs.ts';
import { assertSessionExists } from '../session-reader.ts';

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
