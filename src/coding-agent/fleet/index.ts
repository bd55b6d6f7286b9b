// Exports of src/coding-agent/fleet for other modules.
export { createRunHandlers } from './run-handlers.ts';
