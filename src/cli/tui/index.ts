// Public names of the terminal UI.
export type { Completer, KeyQuestion, Suggestions, TerminalUI, UiChoice, UserAction } from './ui.ts';
export { createUi, createUiPrompter, type UiOptions } from './create-ui.ts';
