// The codec of OpenAI responses.
import type { JsonObject } from '../../core/index.ts';
import { asString } from '../fields.ts';
import { writeOpenAiError } from '../openai-chat/errors.ts';
import type { WireFormat } from '../wire-format.ts';
import { insertResponsesAdditions, parseResponsesRequest } from './parse-request.ts';
import { continueResponsesStream, createResponsesAssembler, parseResponsesResponse } from './parse-response.ts';
import { writeResponsesUsage } from './usage.ts';
import {
  createResponsesEvents,
  writeEndedResponse,
  writeMessageItem,
  writePendingResponse,
  writeTextPart,
} from './write-response.ts';

const newId = (prefix: string): string => `${prefix}_${crypto.randomUUID().replaceAll('-', '')}`;

function writeText(request: JsonObject, text: string): Readonly<Record<'pending' | 'item' | 'ended', JsonObject>> {
  const createdAt = Math.floor(Date.now() / 1000);
  const pending = writePendingResponse(request, { id: newId('resp'), model: asString(request['model']), createdAt });
  const item = writeMessageItem(newId('msg'), writeTextPart(text));
  const usage = writeResponsesUsage({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 });
  return { pending, item, ended: writeEndedResponse(pending, { finish: 'stop', output: [item], usage }) };
}

/** The codec of OpenAI responses. */
export const responsesFormat: WireFormat = {
  name: 'responses',
  toolCallMarkers: ['_call"', '"mcp_approval_request"'],
  parseRequest: parseResponsesRequest,
  unsupportedReason: ({ background }) =>
    background === true
      ? 'Background responses (`background`) cannot be intercepted: leave `background` out.'
      : undefined,
  insertAdditions: insertResponsesAdditions,
  parseResponse: parseResponsesResponse,
  createAssembler: createResponsesAssembler,
  continueStream: continueResponsesStream,
  writeTextResponse: (request, text) => writeText(request, text).ended,
  writeTextEvents(request, text) {
    const { pending, item, ended } = writeText(request, text);
    const events = createResponsesEvents();
    const message = events.item(0, item, 'text');
    return [
      ...events.start(pending),
      ...message.begin(),
      message.delta(text),
      ...message.end(item, text),
      events.end(ended),
    ];
  },
  errorBody: (message) => ({ error: writeOpenAiError(message, { type: 'fairlead_error' }) }),
  errorEvent: (message) => ({
    event: 'error',
    data: { type: 'error', sequence_number: 0, code: 'fairlead_error', message, param: null },
  }),
};
