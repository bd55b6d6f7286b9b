// The routes that begin runs, show them and end them.
import { z } from 'zod';
import type { FleetRun, JsonObject } from '../../core/index.ts';
import { enqueueOnce } from '../../fleet/same-run.ts';
import { refused } from '../faults.ts';
import type { Place } from '../place.ts';
import { route, type Answer, type Asked, type Route } from '../route.ts';
import { most, name, shapes, status, words } from '../schemas.ts';
import { liveRunOf } from '../letters.ts';
import { settled } from '../waiting.ts';
import { allowedRun, claim, judges, making, mustBeSame, taken } from '../wishes.ts';

const one = z.object({ run: shapes.Run });
const begun = z.object({ run: shapes.Run, stream: z.string() });
const plain = {
  words,
  ...making,
  tenant: name.optional(),
  priority: z.number().int().min(-1000).max(1000).optional(),
  session: name.optional(),
};

type Wish = {
  readonly words: string;
  readonly model?: string | undefined;
  readonly folder?: string | undefined;
  readonly auto?: boolean | undefined;
  readonly tenant?: string | undefined;
  readonly priority?: number | undefined;
  readonly session?: string | undefined;
  readonly limits?: Readonly<Record<string, number | undefined>> | undefined;
};

/** A run as the queue takes it; the same `Idempotency-Key` again is the same run, and never another. */
export async function begin(
  { place, caller, headers }: Pick<Asked, 'place' | 'caller' | 'headers'>,
  kind: string,
  { words: asked, tenant, priority, session, ...rest }: Wish,
  more: JsonObject = {},
): Promise<FleetRun> {
  if (place.ending.aborted) throw refused('server/busy', 'The server ends and takes no new work.');
  const id = idIn(headers['idempotency-key']);
  const run = allowedRun(
    { place, caller },
    {
      words: asked,
      kind,
      settings: { ...(rest as JsonObject), ...more },
      ...(id === undefined ? {} : { id }),
      ...(tenant === undefined ? {} : { tenant }),
      ...(priority === undefined ? {} : { priority }),
      ...(session === undefined ? {} : { session }),
    },
  );
  const known = await knownRun({ place, headers });
  if (known) mustBeSame(known, run);
  if (known) return known;
  if (session !== undefined) await mustRest(place, session);
  const [queued] = await place.store.queue.enqueue([run]);
  if (!queued) throw refused('server/busy', 'The queue did not take the run.');
  // Another request may have come with the same id meanwhile.
  mustBeSame(queued, run);
  return queued;
}

/** The run that was begun under this `Idempotency-Key`, if one was. */
export async function knownRun({ place, headers }: Pick<Asked, 'place' | 'headers'>): Promise<FleetRun | undefined> {
  const id = idIn(headers['idempotency-key']);
  return id === undefined ? undefined : place.store.queue.run(id);
}

function idIn(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const { success, data } = name.safeParse(header);
  if (success) return data;
  throw refused('server/bad-request', 'Idempotency-Key has to be a name of at most 200 letters, digits and . : @ _ -');
}

/** Throws where a run is in this session: two at once would take it from each other. */
async function mustRest({ store }: Place, session: string): Promise<void> {
  const live = await liveRunOf(store, session);
  if (live)
    throw refused('server/conflict', `The run ${live.id} is ${live.status} in this session.`, {
      hint: `Add to it with POST /api/sessions/${session}/steer, or cancel it first.`,
    });
}

const streamOf = (run: FleetRun): string => `/api/stream?run=${encodeURIComponent(run.id)}`;

/** However long a caller prefers to wait. */
const mostSeconds = 600;

/** Answers at once, or waits for as long as the caller prefers. */
async function begunOrSettled(asked: Asked, run: FleetRun): Promise<Answer> {
  const wait = /(?:^|[\s,;])wait=(\d{1,4})(?:$|[\s,;])/.exec(String(asked.headers['prefer'] ?? ''))?.[1];
  const now =
    wait === undefined
      ? run
      : await settled(asked.place, run, Math.min(Number(wait), mostSeconds) * 1000, asked.signal);
  const isDone = wait !== undefined && (now.status === 'ended' || now.status === 'resting');
  return { status: isDone ? 200 : 202, json: { run: now, stream: streamOf(now) } };
}

/** The routes that begin, show and end runs. */
export const runRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/run',
    role: 'runner',
    summary: 'Begins a run. `Prefer: wait=<seconds>` waits for its end; `Idempotency-Key` is its id.',
    shapes: { body: z.strictObject(plain) },
    answers: { 200: begun, 202: begun },
    handle: async (asked) => begunOrSettled(asked, await begin(asked, 'run', asked.body)),
  }),
  route({
    method: 'post',
    path: '/api/orchestrate',
    role: 'runner',
    summary: 'Begins a run that takes a task apart, has its parts done and puts them together.',
    shapes: { body: z.strictObject(plain) },
    answers: { 200: begun, 202: begun },
    handle: async (asked) => begunOrSettled(asked, await begin(asked, 'plan', asked.body)),
  }),
  route({
    method: 'post',
    path: '/api/verify',
    role: 'runner',
    summary: 'Begins a run in which other models examine an answer, or answer themselves.',
    shapes: {
      body: z.strictObject({
        ...plain,
        answer: claim,
        models: judges,
      }),
    },
    answers: { 200: begun, 202: begun },
    async handle(asked) {
      const { answer, models, ...rest } = asked.body;
      const more = { ...(answer === undefined ? {} : { claim: answer }), ...(models === undefined ? {} : { models }) };
      return begunOrSettled(asked, await begin(asked, 'verify', rest, more));
    },
  }),
  route({
    method: 'post',
    path: '/api/enqueue',
    role: 'runner',
    summary: 'Puts runs into the queue, each once by its id.',
    shapes: { body: z.strictObject({ runs: z.array(shapes.NewRun).min(1).max(1000) }) },
    answers: { 202: z.object({ runs: z.array(shapes.Run) }) },
    async handle({ place, caller, body }) {
      if (place.ending.aborted) throw refused('server/busy', 'The server ends and takes no new work.');
      const runs = body.runs.map((run) => allowedRun({ place, caller }, run));
      const queued = await enqueueOnce(place.store, runs, { other: taken });
      return { status: 202, json: { runs: queued } };
    },
  }),
  route({
    method: 'get',
    path: '/api/runs',
    role: 'reader',
    summary: 'Runs, the latest first.',
    shapes: {
      query: z.strictObject({
        status: status.optional(),
        tenant: name.optional(),
        parent: name.optional(),
        session: name.optional(),
        before: name.optional(),
        most,
      }),
    },
    answers: { 200: z.object({ runs: z.array(shapes.Run) }) },
    async handle({ place, query }) {
      const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
      return { json: { runs: await place.store.queue.list({ most: 100, ...given }) } };
    },
  }),
  route({
    method: 'get',
    path: '/api/runs/{id}',
    role: 'reader',
    summary: 'One run.',
    answers: { 200: one },
    handle: async ({ place, params }) => ({ json: { run: await runOf(place, params['id'] ?? '') } }),
  }),
  route({
    method: 'post',
    path: '/api/runs/{id}/cancel',
    role: 'runner',
    summary: 'Ends a run, or tells the one who works on it to.',
    answers: { 200: one },
    async handle({ place, params, caller }) {
      const run = await runOf(place, params['id'] ?? '');
      return { json: { run: (await place.store.queue.cancel(run.id, `Cancelled by ${caller.name}.`)) ?? run } };
    },
  }),
];

/** A run that has to be there. */
export async function runOf({ store }: Pick<Place, 'store'>, id: string): Promise<FleetRun> {
  const run = await store.queue.run(id);
  if (!run) throw refused('server/not-found', `There is no run ${id.slice(0, 200)}.`);
  return run;
}
