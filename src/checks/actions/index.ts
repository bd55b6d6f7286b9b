// Interface of the check of action claims: what an answer says was done, compared with the log.
export { actionClaims } from './action-check.ts';
export { actionCheckName, actionLogView, type ActionLog, type ActionRecord } from './action-log.ts';
export type { Action, ActionClaim, ActionEvidence } from './types.ts';
