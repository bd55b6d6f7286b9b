// Messages and prompts in the person's own editor.
export { editPrompt, type PromptEdit } from './edit-prompt.ts';
export { editSession, type EditableSession, type SessionEdit } from './edit-session.ts';
export { openEditor, type Edited, type EditorOptions } from './editor.ts';
