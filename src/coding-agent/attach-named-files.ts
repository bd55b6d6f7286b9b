// Attaches the files that the prompt of a one-shot run names. The code for it is loaded only if the prompt may name one.
import type { AttachedPrompt } from './attachments.ts';
import type { Conversation } from './conversation.ts';

/** Attaches the files that `source` names, as `attachToPrompt` does. */
export async function attachNamedFiles(
  conversation: Pick<Conversation, 'agent' | 'model' | 'session' | 'settings'>,
  prompt: string,
  source: string,
): Promise<AttachedPrompt> {
  if (!/@|\.(?:png|jpe?g|gif|webp)/i.test(source)) return { input: prompt, notices: [] };
  return (await import('./attachments.ts')).attachToPrompt(conversation, prompt, source);
}
