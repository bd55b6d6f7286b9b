// Status and incomplete reasons of OpenAI responses.
import type { FinishReason } from '../../core/index.ts';
import { asObject, stringOrUndefined, type WireObject } from '../fields.ts';

/** Returns why a response ended: the reason why it is incomplete, or its status. */
export const findResponsesFinish = (response: WireObject): string | undefined =>
  stringOrUndefined(asObject(response['incomplete_details'])['reason']) ?? stringOrUndefined(response['status']);

/** Parses a status or an incomplete reason; `other` if it is unknown. */
export function parseResponsesFinish(reason: string | undefined): FinishReason {
  if (reason === 'completed' || reason === 'complete') return 'stop';
  if (reason === 'max_output_tokens') return 'length';
  return reason === 'content_filter' ? 'filtered' : 'other';
}

/** The incomplete reason of a finish reason; undefined if the response is complete. */
export const responsesIncompleteReasons: Readonly<Partial<Record<FinishReason, string>>> = {
  length: 'max_output_tokens',
  filtered: 'content_filter',
  other: 'other',
};
