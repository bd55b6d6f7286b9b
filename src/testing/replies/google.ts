// Google's generateContent and its stream.
import { pieces } from '../pieces.ts';
import type { FullFailure } from '../failure.ts';
import type { FullAnswer } from '../script.ts';
import { argumentsValue, counted, stamp, type FinishWords, type Occasion, type Speaker, type Stream } from './reply.ts';

const finishWords: FinishWords = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  refusal: 'PROHIBITED_CONTENT',
  filtered: 'SAFETY',
  other: 'OTHER',
};

/** Writes an answer as candidates. */
export const google: Speaker = {
  streamType: 'text/event-stream',
  jsonType: 'application/json; charset=UTF-8',
  whole(answer, occasion) {
    const { reasoning, text } = answer;
    const parts = [
      ...(reasoning === '' ? [] : [{ text: reasoning, thought: true }]),
      ...(text === '' ? [] : [{ text }]),
      ...callParts(answer, occasion),
    ];
    return JSON.stringify(candidate(answer, occasion, parts, true));
  },
  stream,
  failure: (failure) => JSON.stringify({ error: errorObject(failure) }),
  failureEvent: (failure) => frame(JSON.stringify({ error: errorObject(failure) })),
};

const frame = (value: string): string => `data: ${value}\r\n\r\n`;

function stream(answer: FullAnswer, occasion: Occasion): Stream {
  const part = (more: object): ((text: string) => string) =>
    stamp((text) => candidate(answer, occasion, [{ text, ...more }], false));
  const values = [
    ...pieces(answer.reasoning).map(part({ thought: true })),
    ...answer.textPieces.map(part({})),
    ...callParts(answer, occasion).map((call) => JSON.stringify(candidate(answer, occasion, [call], false))),
  ];
  const end = JSON.stringify(candidate(answer, occasion, [{ text: '' }], true));
  if (occasion.asArray)
    return { open: '[', deltas: values.map((value) => `${value}\n,\r\n`), close: end, done: '\n]\n' };
  return { open: '', deltas: values.map(frame), close: frame(end), done: '' };
}

function candidate(answer: FullAnswer, { index }: Occasion, parts: readonly object[], last: boolean): object {
  const blocked = last && (answer.finish === 'filtered' || answer.finish === 'refusal');
  return {
    candidates: [
      {
        content: parts.length ? { parts, role: 'model' } : {},
        ...(last ? { finishReason: finishWords[answer.finish] } : {}),
        ...(blocked
          ? { safetyRatings: [{ category: 'HARM_CATEGORY_DANGEROUS_CONTENT', probability: 'HIGH', blocked: true }] }
          : {}),
        index: 0,
      },
    ],
    ...usageOf(answer, last),
    modelVersion: answer.model,
    responseId: `scripted${index.toString(36).padStart(8, '0')}`,
  };
}

/** A thought before a call is kept by its signature, which stands on the first call. */
const callParts = ({ calls, reasoning }: FullAnswer, { index }: Occasion): readonly object[] =>
  calls.map((call, i) => ({
    functionCall: { ...(call.given ? { id: call.id } : {}), name: call.tool, args: argumentsValue(call.raw) },
    ...(reasoning !== '' && i === 0
      ? { thoughtSignature: Buffer.from(`scripted thought ${index}`).toString('base64') }
      : {}),
  }));

function usageOf({ usage }: FullAnswer, last: boolean): object {
  const count = counted(usage);
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

const statusWords: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function errorObject({ name, status, message, afterMs }: FullFailure): object {
  return {
    code: status,
    message:
      name === 'context-too-long'
        ? 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'
        : message,
    status: statusWords[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL'),
    ...(afterMs === undefined
      ? {}
      : { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${afterMs / 1000}s` }] }),
  };
}
