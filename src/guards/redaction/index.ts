// Redaction of secrets in texts, events and tool results.
export { noRedaction, createRedactor, type Redactor } from './redactor.ts';
