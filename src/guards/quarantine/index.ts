// Quarantine: a model without tools reads text of third parties, and the model that acts gets values of a schema.
export { quarantineView, type QuarantinedText } from './quarantine-view.ts';
export { readQuarantinedTool, type ReadQuarantinedOptions } from './read-tool.ts';
export { withQuarantine } from './with-quarantine.ts';
