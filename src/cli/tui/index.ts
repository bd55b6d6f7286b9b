// The terminal as a conversation knows it: what a face is, and the one that fits where the program runs.
export type {
  TranscriptBlock,
  CallStatus,
  UiChoice,
  Completer,
  TerminalUI,
  UserAction,
  KeyQuestion,
  StatusLine,
  Suggestions,
} from './ui.ts';
export { createUi, type UiOptions } from './create-ui.ts';
