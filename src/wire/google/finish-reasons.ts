// Finish and block reasons of Google generateContent responses.
import type { FinishReason } from '../../core/index.ts';
import { asObject, asObjectArray, stringOrUndefined, type WireObject } from '../fields.ts';

/** Reasons for a withheld response. `MALFORMED_FUNCTION_CALL` and other failures of the model are not among them. */
const filteredReasons =
  /^(SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|MODEL_ARMOR|IMAGE_(SAFETY|PROHIBITED_CONTENT|RECITATION))$/;

/** Parses a `finishReason`; `other` if it is unknown. */
export function parseGoogleFinish(reason: string): FinishReason {
  if (reason === 'STOP') return 'stop';
  if (reason === 'MAX_TOKENS' || reason === 'CONTINUATION') return 'length';
  return filteredReasons.test(reason) ? 'filtered' : 'other';
}

/** Returns why a response or stream event ends: its block reason, which means `filtered`, or the finish reason of its first candidate. */
export function findGoogleFinish(
  response: WireObject,
): { readonly finish: FinishReason; readonly raw: string; readonly isBlocked: boolean } | undefined {
  const blocked = stringOrUndefined(asObject(response['promptFeedback'])['blockReason']);
  if (blocked !== undefined && !blocked.endsWith('UNSPECIFIED'))
    return { finish: 'filtered', raw: blocked, isBlocked: true };
  const reason = stringOrUndefined(asObjectArray(response['candidates'])[0]?.['finishReason']);
  return reason === undefined ? undefined : { finish: parseGoogleFinish(reason), raw: reason, isBlocked: false };
}

/** The `finishReason` of each finish reason. */
export const googleFinishNames: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  refusal: 'PROHIBITED_CONTENT',
  filtered: 'SAFETY',
  other: 'OTHER',
};
