// Redaction of secrets in text and tool results.
export { noRedaction, createRedactor, type Redactor } from './redactor.ts';
