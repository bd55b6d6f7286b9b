// OpenAI's endpoints over the governed loop: any client can ask, the tools run here, and every request is a run of the fleet.
import { z } from 'zod';
import type { JsonObject } from '../../../core/index.ts';
import { wireFormats } from '../../../wire/formats/index.ts';
import { handleCompletion, retrieveResponse, type CompletionEndpoint } from '../../openai/handle-completion.ts';
import { assertKnownModel } from '../../openai/start-run.ts';
import { createChatEncoder, createResponsesEncoder } from '../../openai/encoders.ts';
import { defineRoute, type Route } from '../route.ts';
import { defaultModelAlias } from '../run-settings.ts';

const looseObjectSchema = z.looseObject({});
const modelSchema = z.object({ id: z.string(), object: z.literal('model'), created: z.number(), owned_by: z.string() });

const responseSchema = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  output: z.array(looseObjectSchema),
});

const chatEndpoint: CompletionEndpoint = { format: wireFormats.chat, createEncoder: createChatEncoder };
const responsesEndpoint: CompletionEndpoint = { format: wireFormats.responses, createEncoder: createResponsesEncoder };

const formatModel = (id: string): z.infer<typeof modelSchema> => ({
  id,
  object: 'model',
  created: 0,
  owned_by: defaultModelAlias,
});

/** The routes that OpenAI's clients know. */
export const openaiRoutes: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/v1/chat/completions',
    role: 'runner',
    summary: 'A chat completion: a run that begins with these messages. Its tools run here.',
    schemas: {
      body: z.looseObject({ model: z.string().optional(), messages: z.array(looseObjectSchema).min(1).max(10_000) }),
    },
    responses: {
      200: z.looseObject({ id: z.string(), object: z.literal('chat.completion'), choices: z.array(looseObjectSchema) }),
    },
    handle: (asked) => handleCompletion(asked, asked.body as JsonObject, chatEndpoint),
  }),
  defineRoute({
    method: 'post',
    path: '/v1/responses',
    role: 'runner',
    summary: 'A response: a run that starts with this input, or continues an earlier response.',
    schemas: {
      body: z.looseObject({
        model: z.string().optional(),
        input: z.union([z.string().min(1), z.array(looseObjectSchema).min(1).max(10_000)]),
      }),
    },
    responses: { 200: responseSchema },
    handle: (asked) => handleCompletion(asked, asked.body as JsonObject, responsesEndpoint),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/responses/{id}',
    role: 'reader',
    summary: 'The current state of a response.',
    responses: { 200: responseSchema },
    handle: async (asked) => ({ json: await retrieveResponse(asked, asked.params['id'] ?? '') }),
  }),
  defineRoute({
    method: 'get',
    path: '/v1/models',
    role: 'reader',
    summary: `The models that can be asked for; \`${defaultModelAlias}\` is the one that is set here.`,
    responses: { 200: z.object({ object: z.literal('list'), data: z.array(modelSchema) }) },
    async handle({ context }) {
      const ids = [defaultModelAlias, ...(await context.models())];
      return { json: { object: 'list', data: ids.map(formatModel) } };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/models/{model}',
    role: 'reader',
    summary: 'One of the models that can be asked for.',
    responses: { 200: modelSchema },
    async handle({ context, params }) {
      const id = params['model'] ?? '';
      if (id !== defaultModelAlias) await assertKnownModel(context, id);
      return { json: formatModel(id) };
    },
  }),
];
