// Writes scripted responses as Google generateContent responses.
import type { JsonObject } from '../../core/index.ts';
import { googleFinishNames, writeGoogleError, writeGoogleResponse, writeGoogleUsage } from '../../wire/google/index.ts';
import { fillCounts } from '../../wire/index.ts';
import type { ResolvedFailure } from '../failure.ts';
import type { ResolvedResponse } from '../script.ts';
import { splitText } from '../split-text.ts';
import {
  compileTemplate,
  parseArgumentsOrText,
  thinkingSignature,
  type ResponseWriter,
  type ResponseWriterContext,
  type StreamParts,
} from './writer.ts';

/** Writes Google generateContent responses. */
export const googleWriter: ResponseWriter = {
  streamType: 'text/event-stream',
  jsonType: 'application/json; charset=UTF-8',
  writeWhole(response, context) {
    const { reasoning, text } = response;
    const parts = [
      ...(reasoning === '' ? [] : [{ text: reasoning, thought: true }]),
      ...(text === '' ? [] : [{ text }]),
      ...functionCallParts(response, context),
    ];
    return JSON.stringify(writeCandidate(response, context, parts, true));
  },
  writeStream: writeGoogleStream,
  writeError: (failure) => JSON.stringify(writeError(failure)),
  writeErrorEvent: (failure) => googleFrame(JSON.stringify(writeError(failure))),
};

/** Google ends lines with CRLF. */
const googleFrame = (data: string): string => `data: ${data}\r\n\r\n`;

function writeGoogleStream(response: ResolvedResponse, context: ResponseWriterContext): StreamParts {
  const part = (more: JsonObject): ((text: string) => string) =>
    compileTemplate((text) => writeCandidate(response, context, [{ text, ...more }], false));
  const values = [
    ...splitText(response.reasoning).map(part({ thought: true })),
    ...response.textChunks.map(part({})),
    ...functionCallParts(response, context).map((call) =>
      JSON.stringify(writeCandidate(response, context, [call], false)),
    ),
  ];
  const end = JSON.stringify(writeCandidate(response, context, [{ text: '' }], true));
  if (context.asArray)
    return { open: '[', deltas: values.map((value) => `${value}\n,\r\n`), close: end, done: '\n]\n' };
  return { open: '', deltas: values.map(googleFrame), close: googleFrame(end), done: '' };
}

function writeCandidate(
  response: ResolvedResponse,
  { index }: ResponseWriterContext,
  parts: readonly JsonObject[],
  isLast: boolean,
): JsonObject {
  const isBlocked = isLast && (response.finish === 'filtered' || response.finish === 'refusal');
  const counts = fillCounts(response.usage);
  return writeGoogleResponse(
    parts,
    isLast ? googleFinishNames[response.finish] : undefined,
    counts && writeGoogleUsage(counts, isLast),
    {
      response: { modelVersion: response.model, responseId: `scripted${index.toString(36).padStart(8, '0')}` },
      ...(isBlocked ? { candidate: { safetyRatings: [blockedRating] } } : {}),
    },
  );
}

const blockedRating = { category: 'HARM_CATEGORY_DANGEROUS_CONTENT', probability: 'HIGH', blocked: true };

/** The first call has the signature of the reasoning before it. */
const functionCallParts = (
  { calls, reasoning }: ResolvedResponse,
  context: ResponseWriterContext,
): readonly JsonObject[] =>
  calls.map((call, i) => ({
    functionCall: { ...(call.given ? { id: call.id } : {}), name: call.tool, args: parseArgumentsOrText(call.raw) },
    ...(reasoning !== '' && i === 0 ? { thoughtSignature: thinkingSignature(context) } : {}),
  }));

const writeError = ({ name, status, message, afterMs }: ResolvedFailure): JsonObject =>
  writeGoogleError(
    status,
    name === 'context-too-long'
      ? 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'
      : message,
    afterMs,
  );
