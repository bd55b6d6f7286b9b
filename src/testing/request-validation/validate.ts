// Validates a request body as the real service would.
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

/** Throws a FairleadError with the position and the reason if the real service would refuse this request body. Google has its model in the path. */
export function assertValidRequestBody(dialect: WireFormatName, body: unknown, model?: string): void {
  validators[dialect](assertObject(body, 'The body'), model);
}
