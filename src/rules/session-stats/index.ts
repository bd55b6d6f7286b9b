// Statistics of a session that conditions of rules read: calls, failures, files, tokens.
export { detectLoop } from './selectors.ts';
