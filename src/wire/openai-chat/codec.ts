// The codec of OpenAI chat completions.
import { asString } from '../fields.ts';
import type { WireFormat } from '../wire-format.ts';
import { writeOpenAiError } from './errors.ts';
import { insertChatAdditions, parseChatRequest } from './parse-request.ts';
import { createChatAssembler, parseChatResponse } from './parse-response.ts';
import { writeChatChunk, writeChatCompletion, writeChatHead, writeChatMessage } from './write-response.ts';

/** The codec of OpenAI chat completions. */
export const chatFormat: WireFormat = {
  name: 'chat',
  toolCallMarkers: ['"tool_calls"'],
  parseRequest: parseChatRequest,
  unsupportedReason({ n, functions, tools }) {
    if (Array.isArray(functions)) return '`functions` is not supported: use `tools`.';
    return typeof n === 'number' && n > 1 && Array.isArray(tools)
      ? 'Several choices (`n`) are not supported in a request with tools: request one choice.'
      : undefined;
  },
  insertAdditions: insertChatAdditions,
  parseResponse: parseChatResponse,
  createAssembler: createChatAssembler,
  continueStream: () => (event) => event,
  writeTextResponse: (request, text) => ({
    ...writeChatCompletion(
      writeChatHead('chat.completion', asString(request['model'])),
      writeChatMessage(text, []),
      'stop',
    ),
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  }),
  writeTextEvents(request, text) {
    const head = writeChatHead('chat.completion.chunk', asString(request['model']));
    return [
      { data: writeChatChunk(head, { role: 'assistant', content: text }) },
      { data: writeChatChunk(head, {}, 'stop') },
      { data: '[DONE]' },
    ];
  },
  errorBody: (message) => ({ error: writeOpenAiError(message, { type: 'fairlead_error' }) }),
  errorEvent: (message) => ({ data: { error: writeOpenAiError(message, { type: 'fairlead_error' }) } }),
};
