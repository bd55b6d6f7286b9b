// The record of a review of a call by a second model in a run without a user: the annotation with its verdict, and its sentence for users.
import { escapeInvisibleLine } from './escape-invisible.ts';
import type { Event } from './fact.ts';
import { isObject } from './json.ts';
import { flowReviewKey } from './review-notice.ts';
import { truncateMiddle } from './tool-result.ts';

/** How much harm a call can do. */
export const reviewRisks = ['low', 'medium', 'high'] as const;
/** Whether the words of the user ask for a call: for this call, for something that it is a usual step of, or for neither. */
export const reviewAuthorisations = ['explicit', 'implied', 'none'] as const;

/** How much harm a call can do. */
export type ReviewRisk = (typeof reviewRisks)[number];
/** Whether the words of the user ask for a call. */
export type ReviewAuthorisation = (typeof reviewAuthorisations)[number];

/** A review of a call. */
export type FlowReview = {
  readonly call: string;
  readonly turn: number;
  readonly tool: string;
  /** The rule of the flow policy that flagged the call. */
  readonly rule: string;
  /** Identifies the tool and the input. */
  readonly key: string;
  /** The values of the call that are not the user's. */
  readonly values: readonly string[];
  readonly model: string;
  readonly isAllowed: boolean;
  /** Absent if the reviewer gave no verdict that could be read; the call is then denied. */
  readonly risk?: ReviewRisk;
  readonly authorisation?: ReviewAuthorisation;
  /** The words of the user that ask for the call, as the reviewer quoted them. */
  readonly quotation?: string;
  readonly reason: string;
  /** How many requests the review took. */
  readonly requests: number;
};

const isOneOf = <T extends string>(list: readonly T[], value: unknown): value is T =>
  (list as readonly unknown[]).includes(value);

/** Returns the review that an event records; undefined for any other event. */
export function parseFlowReview(event: Event): FlowReview | undefined {
  if (event.type !== 'annotation-added' || event.key !== flowReviewKey || !isObject(event.value)) return undefined;
  const { call, turn, tool, rule, key, values, model, isAllowed, risk, authorisation, quotation, reason, requests } =
    event.value;
  if (typeof call !== 'string' || typeof tool !== 'string' || typeof key !== 'string') return undefined;
  return {
    call,
    turn: typeof turn === 'number' ? turn : 0,
    tool,
    rule: typeof rule === 'string' ? rule : '',
    key,
    values: Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [],
    model: typeof model === 'string' ? model : '',
    isAllowed: isAllowed === true,
    ...(isOneOf(reviewRisks, risk) ? { risk } : {}),
    ...(isOneOf(reviewAuthorisations, authorisation) ? { authorisation } : {}),
    ...(typeof quotation === 'string' ? { quotation } : {}),
    reason: typeof reason === 'string' ? reason : '',
    requests: typeof requests === 'number' ? requests : 0,
  };
}

const maxReasonChars = 300;

/** Formats a review as a sentence: the verdict, both axes and the reason of the reviewer. */
export function formatFlowReview({
  tool,
  model,
  isAllowed,
  risk,
  authorisation,
  quotation,
  reason,
}: FlowReview): string {
  const axes =
    risk === undefined || authorisation === undefined ? '' : `risk ${risk}, authorisation ${authorisation}. `;
  const quoted = quotation === undefined ? '' : ` The user wrote: "${truncateMiddle(quotation, maxReasonChars)}".`;
  return escapeInvisibleLine(
    `The reviewer ${model} ${isAllowed ? 'allowed' : 'denied'} ${tool}: ${axes}${truncateMiddle(reason, maxReasonChars)}${quoted}`,
  );
}
