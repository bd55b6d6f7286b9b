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
import { clientIn, type Brought } from '../../fleet/index.ts';
import { refused } from '../faults.ts';
import { liveRunOf } from '../letters.ts';
import type { Place } from '../place.ts';
import { stateOf, withReader } from '../reading.ts';
import { standingOf } from '../routes/control.ts';
import { begin, knownRun } from '../routes/runs.ts';
import type { Asked } from '../route.ts';
import { callNamed, wireId } from './call-ids.ts';
import type { Conversation, Returns } from './conversation.ts';
import { wrong } from './errors.ts';

/** A run that was begun, and the seq after which it is heard. */
export type Begun = { readonly run: FleetRun; readonly from: number };

type Asking = Pick<Asked, 'place' | 'caller' | 'headers'>;

/** Begins the run of a conversation. */
export async function beginIn(asked: Asking, talk: Conversation): Promise<Begun> {
  const { place } = asked;
  const known = await knownRun(asked);
  // Its session is its own: what was said before the words is not looked at.
  if (known) {
    const isBack = clientIn(known.settings).results !== undefined;
    return { run: await beginRun(asked, talk, known.session, isBack), from: 0 };
  }
  await mustKnow(place, talk.model);
  const { stopped, why } = await standingOf(place);
  if (stopped) throw refused('server/busy', `The fleet is stopped${why === undefined ? '.' : `: ${why}`}`);
  const before = await sessionBefore(asked, talk);
  if (before !== undefined) {
    const { seq } = await withReader(place.store, before, stateOf);
    return { run: await beginRun(asked, talk, before, talk.returns !== undefined), from: seq };
  }
  if (talk.history.length === 0) return { run: await beginRun(asked, talk), from: 0 };
  const session = crypto.randomUUID();
  await write(place, session, talk.history);
  return { run: await beginRun(asked, talk, session), from: 0 };
}

/** Begins a run in a session, with what came of the calls that the run before it handed out. */
function beginRun(asked: Asking, talk: Conversation, session?: string, isBack = false): Promise<FleetRun> {
  const { words, model, format, returns } = talk;
  const results = (returns?.results ?? []).map(({ id, text, failed }): Brought => ({
    call: callNamed(id)?.call ?? id,
    text,
    ...(failed ? { failed } : {}),
  }));
  const client = { ...talk.client, ...(isBack ? { results } : {}) };
  return begin(
    asked,
    'run',
    {
      words: words === '' ? '(the client has made the calls)' : words,
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
export async function mustKnow({ models, isModel }: Place, model: string | undefined): Promise<void> {
  if (model === undefined || (await models()).includes(model) || (await isModel(model))) return;
  throw refused('server/no-model', `There is no model ${JSON.stringify(model.slice(0, 200))} here.`, {
    param: 'model',
    hint: 'GET /v1/models lists those that there are.',
  });
}

/** The session that a conversation goes on in; nothing where it begins one with what the client says was said. */
async function sessionBefore(asked: Asking, { follows, returns, history }: Conversation): Promise<string | undefined> {
  if (follows === undefined) return returns && (await sessionOf(asked, returns));
  if (history.length > 0) wrong('previous_response_id', 'Say what is new, or all that was said, but not both.');
  const run = await runOf(asked, follows.replace(/^resp_/, ''));
  if (!run)
    throw refused('server/not-found', `There is no answer ${follows.slice(0, 200)}.`, {
      param: 'previous_response_id',
    });
  const brought = new Set(returns?.results.map(({ id }) => id));
  const open = run.outcome?.handed?.find(({ id }) => !brought.has(wireId(run, id)));
  if (open) wrong('input', `No tool output found for function call ${wireId(run, open.id)}.`);
  if (returns && (returns.run !== run.id || brought.size > (run.outcome?.handed?.length ?? 0)))
    wrong('input', 'There is an output of a call that this answer has not made.');
  if (!(await isLatest(asked.place, run)))
    throw refused('server/bad-request', 'Only the last answer of a conversation can be gone on with.', {
      param: 'previous_response_id',
      hint: `Fork the session with POST /api/sessions/${run.session}/fork.`,
    });
  return run.session;
}

/** The session of the run that handed these calls out, where nothing was said since and the client tells the same story of it. */
async function sessionOf(asked: Asking, { run: id, calls = [], results, heard }: Returns): Promise<string | undefined> {
  const run = await runOf(asked, id);
  const handed = run?.outcome?.handed;
  if (!run || !handed || clientIn(run.settings).heard !== heard || !(await isLatest(asked.place, run)))
    return undefined;
  const isSame = handed.every(({ id: call, tool, input }) => {
    const made = calls.find((each) => each.id === wireId(run, call));
    const isBack = results.some((each) => each.id === wireId(run, call));
    return isBack && made?.tool === tool && canonicalJson(made.input) === canonicalJson(input);
  });
  return isSame && handed.length === calls.length ? run.session : undefined;
}

/** A run that this caller may go on with. */
export async function runOf(
  { place, caller }: Pick<Asked, 'place' | 'caller'>,
  id: string,
): Promise<FleetRun | undefined> {
  const run = await place.store.queue.run(id);
  return caller.tenant === undefined || run?.tenant === caller.tenant ? run : undefined;
}

async function isLatest({ store }: Place, run: FleetRun): Promise<boolean> {
  const [latest] = await store.queue.list({ session: run.session, most: 1 });
  return latest?.id === run.id && !(await liveRunOf(store, run.session));
}

/** Begins a session with what was said elsewhere; the worker's agent takes it over as its own. */
async function write({ store }: Place, session: string, history: readonly Message[]): Promise<void> {
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
