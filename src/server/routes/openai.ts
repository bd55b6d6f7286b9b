// OpenAI's endpoints over the governed loop: any client can ask, the tools run here, and every request is a run of the fleet.
import { z } from 'zod';
import { dialects } from '../../bridges/index.ts';
import type { JsonObject } from '../../core/index.ts';
import { answered, type Way } from '../openai/answering.ts';
import { mustKnow } from '../openai/beginning.ts';
import { chatSaying } from '../openai/chat-saying.ts';
import { responsesSaying } from '../openai/responses-saying.ts';
import { responseNamed } from '../openai/retrieving.ts';
import { route, type Route } from '../route.ts';
import { anyModel } from '../wishes.ts';

const loose = z.looseObject({});
const model = z.object({ id: z.string(), object: z.literal('model'), created: z.number(), owned_by: z.string() });

const response = z.looseObject({ id: z.string(), object: z.literal('response'), output: z.array(loose) });

const chat: Way = { dialect: dialects.chat, sayingOf: chatSaying };
const responses: Way = { dialect: dialects.responses, sayingOf: responsesSaying };

const modelOf = (id: string): z.infer<typeof model> => ({ id, object: 'model', created: 0, owned_by: anyModel });

/** The routes that OpenAI's clients know. */
export const openaiRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/v1/chat/completions',
    role: 'runner',
    summary: 'A chat completion: a run that begins with these messages. Its tools run here.',
    shapes: { body: z.looseObject({ model: z.string().optional(), messages: z.array(loose).min(1).max(10_000) }) },
    answers: { 200: z.looseObject({ id: z.string(), object: z.literal('chat.completion'), choices: z.array(loose) }) },
    handle: (asked) => answered(asked, asked.body as JsonObject, chat),
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
    answers: { 200: response },
    handle: (asked) => answered(asked, asked.body as JsonObject, responses),
  }),
  route({
    method: 'get',
    path: '/v1/responses/{id}',
    role: 'reader',
    summary: 'A response as it stands.',
    answers: { 200: response },
    handle: async (asked) => ({ json: await responseNamed(asked, asked.params['id'] ?? '') }),
  }),
  route({
    method: 'get',
    path: '/v1/models',
    role: 'reader',
    summary: `The models that can be asked for; \`${anyModel}\` is the one that is set here.`,
    answers: { 200: z.object({ object: z.literal('list'), data: z.array(model) }) },
    async handle({ place }) {
      const ids = [anyModel, ...(await place.models())];
      return { json: { object: 'list', data: ids.map(modelOf) } };
    },
  }),
  route({
    method: 'get',
    path: '/v1/models/{model}',
    role: 'reader',
    summary: 'One of the models that can be asked for.',
    answers: { 200: model },
    async handle({ place, params }) {
      const id = params['model'] ?? '';
      if (id !== anyModel) await mustKnow(place, id);
      return { json: modelOf(id) };
    },
  }),
];
