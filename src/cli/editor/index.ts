// Public names of the editor integration.
export { editPrompt, type PromptEditResult } from './edit-prompt.ts';
export { editSession, type EditableSession, type SessionEditResult } from './edit-session.ts';
export { openEditor, openFileInEditor, type EditorResult, type EditorOptions } from './open-editor.ts';
