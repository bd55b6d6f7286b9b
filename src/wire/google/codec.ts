// The codec of Google generateContent.
import type { JsonObject } from '../../core/index.ts';
import { asObject } from '../fields.ts';
import type { WireFormat } from '../wire-format.ts';
import { writeGoogleError } from './errors.ts';
import { insertGoogleAdditions, parseGoogleRequest } from './parse-request.ts';
import { createGoogleAssembler, parseGoogleResponse } from './parse-response.ts';
import { writeGoogleResponse } from './write-response.ts';

const writeText = (text: string): JsonObject =>
  writeGoogleResponse([{ text }], 'STOP', { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 });

/** Google generateContent and streamGenerateContent. */
export const googleFormat: WireFormat = {
  name: 'google',
  toolCallMarkers: ['"functionCall"', '"function_call"', '"functioncall"'],
  parseRequest: parseGoogleRequest,
  unsupportedReason: ({ generationConfig, tools }) =>
    Number(asObject(generationConfig)['candidateCount'] ?? 1) > 1 && Array.isArray(tools)
      ? 'Several candidates (`candidateCount`) are not supported in a request with tools: request one candidate.'
      : undefined,
  insertAdditions: insertGoogleAdditions,
  parseResponse: parseGoogleResponse,
  createAssembler: createGoogleAssembler,
  continueStream: () => (event) => event,
  writeTextResponse: (_request, text) => writeText(text),
  writeTextEvents: (_request, text) => [{ data: writeText(text) }],
  errorBody: (message) => writeGoogleError(503, message),
  errorEvent: (message) => ({ data: writeGoogleError(503, message) }),
};
