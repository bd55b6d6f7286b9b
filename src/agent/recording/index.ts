// Recorded sessions that are continued: cut before a turn, with a live or a recorded model and tools. Loaded by evaluations and replays only.
export { getCallKey, listRecordedCalls, type RecordedCall } from './recorded-calls.ts';
export {
  createRecordedResults,
  noRecordedResult,
  withRecordedDecisions,
  withRecordedResults,
  withRecordedTools,
  type RecordedResults,
} from './recorded-results.ts';
export { cutBeforeTurn, openBeforeTurn, type ContinuedSession } from './recording.ts';
