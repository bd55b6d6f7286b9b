// The sentence about a review of a call, as the log has it: what every run loads of reviews.
import type { Event } from './fact.ts';
import { isObject } from './json.ts';

/** The key of the annotation that records a review of a call by a second model. */
export const flowReviewKey = 'flow-review';

/** The sentence of the review that an event records; undefined for any other event. */
export const readReviewNotice = (event: Event): string | undefined =>
  event.type === 'annotation-added' && event.key === flowReviewKey && isObject(event.value)
    ? String(event.value['text'])
    : undefined;
