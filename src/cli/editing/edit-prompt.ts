// `/editor`: a prompt written in the person's editor before it is sent.
import { openEditor, type EditorOptions } from './editor.ts';

/** What came of editing a prompt. */
export type PromptEdit =
  | { readonly type: 'edited'; readonly text: string }
  | { readonly type: 'cancelled'; readonly why: string }
  | { readonly type: 'failed'; readonly why: string; readonly kept?: string };

/** Lets a person write a prompt, beginning with this text. */
export async function editPrompt(text: string, options: Omit<EditorOptions, 'suffix'> = {}): Promise<PromptEdit> {
  const edited = await openEditor(text, { ...options, suffix: '.md' });
  if (edited.type === 'failed') return edited;
  if (edited.type === 'unchanged')
    return { type: 'cancelled', why: 'The prompt was left as it was, so nothing was sent.' };
  if (edited.text.trim() === '') return { type: 'cancelled', why: 'The prompt was left empty, so nothing was sent.' };
  return { type: 'edited', text: edited.text };
}
