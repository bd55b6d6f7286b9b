// OpenAI's endpoints over the governed loop: any client can ask, the tools run here, and every request is a run of the fleet.
import { z } from 'zod';
import { dialects, type Dialect } from '../../bridges/index.ts';
import type { FleetRun, JsonObject } from '../../core/index.ts';
import type { StreamEvent } from '../../bridges/dialects/dialect.ts';
import { refusalOf } from '../faults.ts';
import { chatSaying, mustHaveAnswered, responsesSaying, type Saying } from '../openai/answers.ts';
import { beginIn } from '../openai/beginning.ts';
import { conversationIn } from '../openai/conversation.ts';
import { spoken } from '../openai/speaking.ts';
import { cutterFor, stopsIn, type Cutter } from '../openai/stopping.ts';
import { route, type Answer, type Asked, type Route } from '../route.ts';
import { sendFrames } from '../sse.ts';
import { settled } from '../waiting.ts';
import { anyModel } from '../wishes.ts';

const loose = z.looseObject({});

const textOfFrame = ({ event, data }: StreamEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${data === '[DONE]' ? data : JSON.stringify(data)}\n\n`;

/** The client that asked is the only one who waits: where it goes, the run is called off. Where the server ends, the run goes on elsewhere. */
function callOffWithout({ place, signal }: Asked, run: FleetRun): () => void {
  const gone = (): void => {
    if (!place.ending.aborted) void place.store.queue.cancel(run.id, 'The client has gone.').catch(() => undefined);
  };
  signal.addEventListener('abort', gone, { once: true });
  return () => signal.removeEventListener('abort', gone);
}

async function answered(
  asked: Asked,
  request: JsonObject,
  dialect: Dialect,
  sayingOf: (request: JsonObject, run: FleetRun) => Saying,
): Promise<Answer> {
  const { place, signal } = asked;
  const cutter = cutterFor(stopsIn(request));
  const { run, from } = await beginIn(asked, conversationIn(request, dialect));
  const saying = sayingOf(request, run);
  const release = callOffWithout(asked, run);
  // Clients that try again by themselves would have everything done twice.
  const headers = { 'x-fairlead-run': run.id, 'x-should-retry': 'false' };
  if (request['stream'] !== true) {
    try {
      const now = await settled(place, run, Number.POSITIVE_INFINITY, signal);
      mustHaveAnswered(now);
      return { json: saying.whole(cutBy(cutter, now)), headers };
    } catch (error) {
      const { status, code, message, hint } = refusalOf(error);
      const told = {
        message: hint === undefined ? message : `${message} ${hint}`,
        type: 'fairlead_error',
        param: null,
        code,
      };
      return { status, json: { error: told }, headers };
    } finally {
      release();
    }
  }
  async function* frames(): AsyncGenerator<string> {
    let said = '';
    const tell = (text: string): string => {
      said += text;
      return text === '' ? '' : textOfFrame(saying.delta(text));
    };
    try {
      yield saying.opening.map(textOfFrame).join('');
      for await (const each of spoken(place.watching.watch({ session: run.session, run: run.id }, from, signal))) {
        if (each.type === 'text') {
          yield tell(cutter.take(each.text));
          continue;
        }
        mustHaveAnswered(each.run);
        yield tell(cutter.rest());
        yield saying.closing(each.run, said).map(textOfFrame).join('');
      }
    } catch (error) {
      yield textOfFrame(dialect.failureEvent(refusalOf(error).message));
    } finally {
      release();
    }
  }
  const { pingMs, stallMs } = place.bounds;
  return { stream: (outgoing) => sendFrames(outgoing, frames(), { signal, pingMs, stallMs }), headers };
}

function cutBy(cutter: Cutter, run: FleetRun): FleetRun {
  const { outcome } = run;
  return outcome ? { ...run, outcome: { ...outcome, text: cutter.take(outcome.text) + cutter.rest() } } : run;
}

/** The routes that OpenAI's clients know. */
export const openaiRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/v1/chat/completions',
    role: 'runner',
    summary: 'A chat completion: a run that begins with these messages. Its tools run here.',
    shapes: { body: z.looseObject({ model: z.string().optional(), messages: z.array(loose).min(1).max(10_000) }) },
    answers: { 200: z.looseObject({ id: z.string(), object: z.literal('chat.completion'), choices: z.array(loose) }) },
    handle: (asked) => answered(asked, asked.body as JsonObject, dialects.chat, chatSaying),
  }),
  route({
    method: 'post',
    path: '/v1/responses',
    role: 'runner',
    summary: 'A response: a run that begins with this input, or goes on with an earlier response.',
    shapes: {
      body: z.looseObject({
        model: z.string().optional(),
        input: z.union([z.string().min(1), z.array(loose).min(1).max(10_000)]),
      }),
    },
    answers: { 200: z.looseObject({ id: z.string(), object: z.literal('response'), output: z.array(loose) }) },
    handle: (asked) => answered(asked, asked.body as JsonObject, dialects.responses, responsesSaying),
  }),
  route({
    method: 'get',
    path: '/v1/models',
    role: 'reader',
    summary: `The models that can be asked for; \`${anyModel}\` is the one that is set here.`,
    answers: {
      200: z.object({
        object: z.literal('list'),
        data: z.array(
          z.object({ id: z.string(), object: z.literal('model'), created: z.number(), owned_by: z.string() }),
        ),
      }),
    },
    async handle({ place }) {
      const ids = [anyModel, ...(await place.models())];
      return {
        json: { object: 'list', data: ids.map((id) => ({ id, object: 'model', created: 0, owned_by: anyModel })) },
      };
    },
  }),
];
