// The terminal as a conversation knows it: what a face is, and the one that fits where the program runs.
export type { UiChoice, Completer, TerminalUI, UserAction, KeyQuestion, Suggestions } from './ui.ts';
export { createUi, type UiOptions } from './create-ui.ts';
