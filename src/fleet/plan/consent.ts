// The question of a proposed plan.

/** The id of the question that a proposed plan waits for. */
export const consentCall = 'plan';
