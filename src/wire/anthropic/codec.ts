// The codec of Anthropic messages.
import { asString } from '../fields.ts';
import type { WireFormat } from '../wire-format.ts';
import { writeAnthropicError } from './errors.ts';
import { insertAnthropicAdditions, parseAnthropicRequest } from './parse-request.ts';
import { continueAnthropicStream, createAnthropicAssembler, parseAnthropicResponse } from './parse-response.ts';
import { writeAnthropicEvent, writeAnthropicMessage, writeBlockEvents, writeMessageDelta } from './write-response.ts';

const noUsage = { input_tokens: 0, output_tokens: 0 };

/** The codec of Anthropic messages. */
export const anthropicFormat: WireFormat = {
  name: 'anthropic',
  toolCallMarkers: ['"tool_use"'],
  parseRequest: parseAnthropicRequest,
  unsupportedReason: () => undefined,
  insertAdditions: insertAnthropicAdditions,
  parseResponse: parseAnthropicResponse,
  createAssembler: createAnthropicAssembler,
  continueStream: continueAnthropicStream,
  writeTextResponse: (request, text) =>
    writeAnthropicMessage({ model: asString(request['model']) }, [{ type: 'text', text }], 'end_turn', noUsage),
  writeTextEvents: (request, text) => [
    writeAnthropicEvent('message_start', {
      message: writeAnthropicMessage({ model: asString(request['model']) }, [], null, noUsage),
    }),
    ...writeBlockEvents(0, { type: 'text', text: '' }, [{ type: 'text_delta', text }]),
    writeMessageDelta('end_turn', { output_tokens: 0 }),
    writeAnthropicEvent('message_stop'),
  ],
  errorBody: (message) => writeAnthropicError(500, message),
  errorEvent: (message) => ({ event: 'error', data: writeAnthropicError(500, message) }),
};
