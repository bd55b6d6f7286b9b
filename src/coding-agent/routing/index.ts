// Exports of src/coding-agent/routing for other modules.
export { loadRouterCandidates } from './candidates.ts';
export { defaultFrameTokens } from './session-router.ts';
export { readRunHistory } from './run-history.ts';
export { findRouter } from './router-config.ts';
