// The route that follows a run or a session: it starts nothing, and can be taken up again where it broke off.
import { z } from 'zod';
import { refused } from '../faults.ts';
import { route, type Route } from '../route.ts';
import { from, name } from '../schemas.ts';
import { resumeAfter, sendFrames } from '../sse.ts';
import { runOf } from './runs.ts';
import { mustHave } from '../reading.ts';

/** The route that follows a run or a session. */
export const streamRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/stream',
    role: 'reader',
    summary:
      'Events of a run or a session after a seq (`from`, `Last-Event-ID`) as they happen: `event`, `chunk` (not settled), `run`, `end`.',
    shapes: { query: z.strictObject({ run: name.optional(), session: name.optional(), from }) },
    answers: { 200: 'text/event-stream' },
    async handle({ place, query, headers, signal }) {
      if ((query.run === undefined) === (query.session === undefined))
        throw refused('server/bad-request', 'Say which to follow: a run or a session.');
      const last = headers['last-event-id'];
      const after = resumeAfter(Array.isArray(last) ? last[0] : last, query.from);
      const run = query.run === undefined ? undefined : await runOf(place, query.run);
      if (query.session !== undefined) await mustHave(place.store, query.session);
      const sight = run ? { session: run.session, run: run.id } : { session: query.session ?? '' };
      const { pingMs, stallMs } = place.bounds;
      return {
        stream: (outgoing) =>
          sendFrames(outgoing, place.watching.watch(sight, after, signal), {
            signal,
            pingMs,
            stallMs,
            farewell: () => (place.ending.aborted ? 'the server ends; connect again later' : undefined),
          }),
      };
    },
  }),
];
