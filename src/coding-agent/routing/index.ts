// Model routing of a conversation: candidates, configuration and run history.
export { loadRouterCandidates } from './candidates.ts';
export { defaultFrameTokens } from './session-router.ts';
export { readRunHistory } from './run-history.ts';
export { findRouter } from './router-config.ts';
