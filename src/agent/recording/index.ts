// Recorded sessions that are continued: cut before a turn, with a live or a recorded model and tools. Loaded by evaluations and replays only.
export {
  createRecordedProvider,
  cutBeforeTurn,
  openBeforeTurn,
  withRecordedTools,
  type ContinuedSession,
} from './recording.ts';
