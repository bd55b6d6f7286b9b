// Lets the user write a prompt in an editor, for `/editor`.
import { openEditor, type EditorOptions } from './open-editor.ts';

/** The result of editing a prompt. */
export type PromptEditResult =
  | { readonly type: 'edited'; readonly text: string }
  | { readonly type: 'cancelled'; readonly message: string }
  | { readonly type: 'failed'; readonly message: string; readonly draftPath?: string };

/** Opens the user's editor with this text and returns the edited prompt. */
export async function editPrompt(text: string, options: Omit<EditorOptions, 'suffix'> = {}): Promise<PromptEditResult> {
  const edited = await openEditor(text, { ...options, suffix: '.md' });
  if (edited.type === 'failed') return edited;
  if (edited.type === 'unchanged')
    return { type: 'cancelled', message: 'The prompt was not changed, so nothing was sent.' };
  if (edited.text.trim() === '') return { type: 'cancelled', message: 'The prompt is empty, so nothing was sent.' };
  return { type: 'edited', text: edited.text };
}
