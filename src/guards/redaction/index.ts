// Exports of src/guards/redaction for other modules.
export { noRedaction, createRedactor, type Redactor } from './redactor.ts';
