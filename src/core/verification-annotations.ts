// The annotations of verification in a log: that answers are verified before they are handed on, and what a verification said.
import type { Event } from './fact.ts';

/** The key of the annotation with the record of a verification. */
export const verificationKey = 'verification';

/** The key of the annotation by which answers are verified; its value is true or false, for what follows. */
export const verificationDemandKey = 'verify/required';

/** Returns whether answers after this event are verified; undefined if the event does not say so. */
export const parseVerificationDemand = (event: Event): boolean | undefined =>
  event.type === 'annotation-added' && event.key === verificationDemandKey ? event.value === true : undefined;
