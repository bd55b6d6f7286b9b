// When a question may be answered: once the person has had time to see it and has stopped typing what was meant for something else.

/** A question takes no key sooner after it appeared. */
export const MIN_VISIBLE_MS = 500;

/** Nor sooner after the last key. */
export const MIN_IDLE_MS = 300;
