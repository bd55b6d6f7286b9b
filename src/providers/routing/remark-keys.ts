// The names of the remarks by which a router's doings stand in the log.

/** The remark that says which model was chosen, and why. */
export const modelChosenKey = 'routing/chosen';

/** The remark that says that a model failed, and how. */
export const modelFailedKey = 'routing/failed';
