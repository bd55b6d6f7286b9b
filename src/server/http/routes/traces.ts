// HTTP routes of traces: the spans of a session with those of its sub-agents or plan steps, as `fairlead trace` shows them.
import { z } from 'zod';
import type { SessionTree } from '../../../sessions/index.ts';
import { readFleetSessionTree } from '../../../sessions/index.ts';
import {
  buildTrace,
  detailTextLimits,
  listTextLimits,
  selectSpans,
  shortenSpan,
  type Span,
} from '../../../tracing/index.ts';
import { assertSessionExists } from '../sessions.ts';
import { createHttpError } from '../errors.ts';
import { defineRoute, type Route } from '../route.ts';
import { requireTerminalSessions } from './terminal-sessions.ts';

/** The max number of spans in a response. */
const maxSpans = 5000;

const traceQuery = z.strictObject({
  since: z.coerce.number().int().min(0).exactOptional(),
  span: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .exactOptional(),
});

const spanSchema = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentId: z.string().exactOptional(),
  session: z.string(),
  kind: z.enum(['workflow', 'step', 'run', 'turn', 'model', 'tool', 'gate', 'check', 'compaction', 'request']),
  name: z.string(),
  start: z.number(),
  end: z.number().exactOptional(),
  error: z.string().exactOptional(),
  errorMessage: z.string().exactOptional(),
  details: z.looseObject({}),
});

const traceSchema = z.object({ spans: z.array(spanSchema), totalSpans: z.number() });

type TraceResponse = { readonly spans: readonly Span[]; readonly totalSpans: number };

const emptyTrace: TraceResponse = { spans: [], totalSpans: 0 };

function createTrace({ main, children }: SessionTree, { since, span: id }: z.infer<typeof traceQuery>): TraceResponse {
  const spans = buildTrace(main, children, { content: true });
  if (id === undefined) {
    const selected = selectSpans(spans, { since, maxSpans });
    return { spans: selected.map((span) => shortenSpan(span, listTextLimits, false)), totalSpans: spans.length };
  }
  const found = spans.find(({ spanId }) => spanId === id);
  if (!found) throw createHttpError('server/not-found', 'This session has no such span.');
  return { spans: [shortenSpan(found, detailTextLimits, true)], totalSpans: spans.length };
}

/** The routes of traces. */
export const traceRoutes: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/api/sessions/{id}/trace',
    role: 'reader',
    summary:
      'The spans of a session, the latest 5,000: runs, turns, model calls, tool calls, gate decisions, checks, compactions and plan steps with the runs below them. `since` (milliseconds since 1970) returns those that had not ended then, with the spans above them; `span` returns one with its texts.',
    schemas: { query: traceQuery },
    responses: { 200: traceSchema },
    async handle({ context: { store }, params, query }) {
      const id = params['id'] ?? '';
      const found = await store.sessions.find(id);
      // A queued run has no log before it starts.
      if (!found) await assertSessionExists(store, id);
      return { json: found ? createTrace(await readFleetSessionTree(store, found.session), query) : emptyTrace };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/api/terminal-sessions/{id}/trace',
    role: 'operator',
    summary: 'The spans of a session of the terminal, with those of its sub-agents.',
    schemas: { query: traceQuery },
    responses: { 200: traceSchema },
    handle: async ({ context, params, query }) => ({
      json: createTrace(await requireTerminalSessions(context).readTree(params['id'] ?? ''), query),
    }),
  }),
];
