// Annotation keys of the router.

/** The annotation of a decision. */
export const modelChosenKey = 'routing/chosen';

/** The annotation of a failed model. */
export const modelFailedKey = 'routing/failed';
