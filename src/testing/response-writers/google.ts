// Google's generateContent and its stream.
import { splitText } from '../split-text.ts';
import type { ResolvedFailure } from '../failure.ts';
import type { ResolvedResponse } from '../script.ts';
import {
  parseArgumentsOrText,
  resolveCounts,
  compileTemplate,
  type FinishReasonNames,
  type ResponseWriterContext,
  type ResponseWriter,
  type StreamParts,
} from './writer.ts';

const googleFinishReasons: FinishReasonNames = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  refusal: 'PROHIBITED_CONTENT',
  filtered: 'SAFETY',
  other: 'OTHER',
};

/** Writes an answer as candidates. */
export const googleWriter: ResponseWriter = {
  streamType: 'text/event-stream',
  jsonType: 'application/json; charset=UTF-8',
  writeWhole(answer, occasion) {
    const { reasoning, text } = answer;
    const parts = [
      ...(reasoning === '' ? [] : [{ text: reasoning, thought: true }]),
      ...(text === '' ? [] : [{ text }]),
      ...functionCallParts(answer, occasion),
    ];
    return JSON.stringify(writeCandidate(answer, occasion, parts, true));
  },
  writeStream: writeGoogleStream,
  writeError: (failure) => JSON.stringify({ error: writeGoogleError(failure) }),
  writeErrorEvent: (failure) => sseFrame(JSON.stringify({ error: writeGoogleError(failure) })),
};

const sseFrame = (value: string): string => `data: ${value}\r\n\r\n`;

function writeGoogleStream(answer: ResolvedResponse, occasion: ResponseWriterContext): StreamParts {
  const part = (more: object): ((text: string) => string) =>
    compileTemplate((text) => writeCandidate(answer, occasion, [{ text, ...more }], false));
  const values = [
    ...splitText(answer.reasoning).map(part({ thought: true })),
    ...answer.textChunks.map(part({})),
    ...functionCallParts(answer, occasion).map((call) =>
      JSON.stringify(writeCandidate(answer, occasion, [call], false)),
    ),
  ];
  const end = JSON.stringify(writeCandidate(answer, occasion, [{ text: '' }], true));
  if (occasion.asArray)
    return { open: '[', deltas: values.map((value) => `${value}\n,\r\n`), close: end, done: '\n]\n' };
  return { open: '', deltas: values.map(sseFrame), close: sseFrame(end), done: '' };
}

function writeCandidate(
  answer: ResolvedResponse,
  { index }: ResponseWriterContext,
  parts: readonly object[],
  last: boolean,
): object {
  const blocked = last && (answer.finish === 'filtered' || answer.finish === 'refusal');
  return {
    candidates: [
      {
        content: parts.length ? { parts, role: 'model' } : {},
        ...(last ? { finishReason: googleFinishReasons[answer.finish] } : {}),
        ...(blocked
          ? { safetyRatings: [{ category: 'HARM_CATEGORY_DANGEROUS_CONTENT', probability: 'HIGH', blocked: true }] }
          : {}),
        index: 0,
      },
    ],
    ...writeGoogleUsage(answer, last),
    modelVersion: answer.model,
    responseId: `scripted${index.toString(36).padStart(8, '0')}`,
  };
}

/** A thought before a call is kept by its signature, which stands on the first call. */
const functionCallParts = (
  { calls, reasoning }: ResolvedResponse,
  { index }: ResponseWriterContext,
): readonly object[] =>
  calls.map((call, i) => ({
    functionCall: { ...(call.given ? { id: call.id } : {}), name: call.tool, args: parseArgumentsOrText(call.raw) },
    ...(reasoning !== '' && i === 0
      ? { thoughtSignature: Buffer.from(`scripted thought ${index}`).toString('base64') }
      : {}),
  }));

function writeGoogleUsage({ usage }: ResolvedResponse, last: boolean): object {
  const count = resolveCounts(usage);
  if (!count) return {};
  const said = count.output - count.reasoning;
  return {
    usageMetadata: {
      promptTokenCount: count.input,
      ...(last ? { candidatesTokenCount: said } : {}),
      ...(last && count.reasoning ? { thoughtsTokenCount: count.reasoning } : {}),
      ...(count.cacheRead ? { cachedContentTokenCount: count.cacheRead } : {}),
      totalTokenCount: count.input + (last ? count.output : 0),
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: count.input }],
    },
  };
}

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function writeGoogleError({ name, status, message, afterMs }: ResolvedFailure): object {
  return {
    code: status,
    message:
      name === 'context-too-long'
        ? 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'
        : message,
    status: statusNames[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL'),
    ...(afterMs === undefined
      ? {}
      : { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${afterMs / 1000}s` }] }),
  };
}
