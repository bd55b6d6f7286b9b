// The annotation by which a log says that the answers of a session are verified before they are handed on.
import type { Event } from './fact.ts';

/** The key of the annotation; its value is true or false, for what follows. */
export const verificationDemandKey = 'verify/required';

/** Returns whether answers after this event are verified; undefined if the event does not say so. */
export const parseVerificationDemand = (event: Event): boolean | undefined =>
  event.type === 'annotation-added' && event.key === verificationDemandKey ? event.value === true : undefined;
