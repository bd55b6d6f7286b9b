// `/editor`: a prompt written in the person's editor before it is sent.
import { openEditor, type EditorOptions } from './open-editor.ts';

/** What came of editing a prompt. */
export type PromptEditResult =
  | { readonly type: 'edited'; readonly text: string }
  | { readonly type: 'cancelled'; readonly message: string }
  | { readonly type: 'failed'; readonly message: string; readonly draftPath?: string };

/** Lets a person write a prompt, beginning with this text. */
export async function editPrompt(text: string, options: Omit<EditorOptions, 'suffix'> = {}): Promise<PromptEditResult> {
  const edited = await openEditor(text, { ...options, suffix: '.md' });
  if (edited.type === 'failed') return edited;
  if (edited.type === 'unchanged')
    return { type: 'cancelled', message: 'The prompt was left as it was, so nothing was sent.' };
  if (edited.text.trim() === '')
    return { type: 'cancelled', message: 'The prompt was left empty, so nothing was sent.' };
  return { type: 'edited', text: edited.text };
}
