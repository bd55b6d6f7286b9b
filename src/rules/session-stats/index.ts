// Exports of src/rules/session-stats for other modules.
export { detectLoop } from './selectors.ts';
