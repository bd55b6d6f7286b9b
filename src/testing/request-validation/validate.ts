// Whether the real service would take a request, asked before it is sent anywhere.
import type { WireFormatName } from '../../wire/index.ts';
import { validateAnthropicRequest } from './anthropic.ts';
import { validateChatRequest } from './openai-chat.ts';
import { assertObject, type RequestObject } from './assertions.ts';
import { validateGoogleRequest } from './google.ts';
import { validateOllamaRequest } from './ollama.ts';
import { validateResponsesRequest } from './openai-responses.ts';

const validators: Readonly<Record<WireFormatName, (body: RequestObject, model?: string) => void>> = {
  chat: validateChatRequest,
  responses: validateResponsesRequest,
  anthropic: validateAnthropicRequest,
  google: validateGoogleRequest,
  ollama: validateOllamaRequest,
};

/** Throws a FairleadError that says where and why the real service would refuse this request body. Google names its model beside the body. */
export function assertValidRequestBody(dialect: WireFormatName, body: unknown, model?: string): void {
  validators[dialect](assertObject(body, 'The body'), model);
}
