// A run for a client of OpenAI's endpoints: in a session that begins with what the client says was said, or goes on with an earlier answer.
import { newEpoch, openHead, runView, type FleetRun, type Message } from '../../core/index.ts';
import { refused } from '../faults.ts';
import { liveRunOf } from '../letters.ts';
import type { Place } from '../place.ts';
import { stateOf, withReader } from '../reading.ts';
import { standingOf } from '../routes/control.ts';
import { begin, knownRun } from '../routes/runs.ts';
import type { Asked } from '../route.ts';
import type { Conversation } from './conversation.ts';

/** A run that was begun, and the seq after which it is heard. */
export type Begun = { readonly run: FleetRun; readonly from: number };

/** The name of an answer, by which a client goes on with it. */
export const answerIdOf = (run: FleetRun): string => `resp_${run.id}`;

/** Begins the run of a conversation. */
export async function beginIn(asked: Pick<Asked, 'place' | 'caller' | 'headers'>, talk: Conversation): Promise<Begun> {
  const { place } = asked;
  const wish = { words: talk.words, ...(talk.model === undefined ? {} : { model: talk.model }) };
  const known = await knownRun(asked);
  // Its session is its own: what was said before the words is not looked at.
  if (known) return { run: await begin(asked, 'run', { ...wish, session: known.session }), from: 0 };
  const { stopped, why } = await standingOf(place);
  if (stopped) throw refused('server/busy', `The fleet is stopped${why === undefined ? '.' : `: ${why}`}`);
  if (talk.follows !== undefined) {
    if (talk.history.length > 0)
      throw refused('server/bad-request', 'Say what is new, or all that was said, but not both.');
    const session = await sessionAfter(place, talk.follows);
    const { seq } = await withReader(place.store, session, stateOf);
    return { run: await begin(asked, 'run', { ...wish, session }), from: seq };
  }
  if (talk.history.length === 0) return { run: await begin(asked, 'run', wish), from: 0 };
  const session = crypto.randomUUID();
  await write(place, session, talk.history);
  return { run: await begin(asked, 'run', { ...wish, session }), from: 0 };
}

async function sessionAfter({ store }: Place, answer: string): Promise<string> {
  const run = await store.queue.run(answer.replace(/^resp_/, ''));
  if (!run) throw refused('server/not-found', `There is no answer ${answer.slice(0, 200)}.`);
  const [latest] = await store.queue.list({ session: run.session, most: 1 });
  if (latest?.id !== run.id || (await liveRunOf(store, run.session)))
    throw refused('server/bad-request', 'Only the last answer of a conversation can be gone on with.', {
      hint: `Fork the session with POST /api/sessions/${run.session}/fork.`,
    });
  return run.session;
}

/** Begins a session with what was said elsewhere; the worker's agent takes it over as its own. */
async function write({ store }: Place, session: string, history: readonly Message[]): Promise<void> {
  const log = await store.sessions.open(session, { holder: 'server' });
  try {
    const head = await openHead(log, runView());
    const nonce = crypto.randomUUID().slice(0, 8);
    await head.record(
      (state) => [
        { type: 'session-started', session, nonce },
        newEpoch({ ...state, session, nonce }, 'started', history),
      ],
      { settle: true },
    );
  } finally {
    await log.close();
  }
}
