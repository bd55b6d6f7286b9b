// What was found for a working folder, told to the person: instructions, skills, and what was passed over.
import type { CommandContext } from './context.ts';

/** Tells what was loaded for the folder the conversation is in. */
export function notifyLoadedResources({ conversation, notify }: Pick<CommandContext, 'conversation' | 'notify'>): void {
  const { origin } = conversation.settings.all.get('instructions') ?? {};
  if (origin?.type === 'project') notify(`Instructions loaded: ${origin.file}`);
  const { instructions, skills, problems } = conversation.agent;
  for (const problem of problems) notify(problem, 'warning');
  if (conversation.model.tools === false) return;
  if (instructions.files.length)
    notify(`Instructions loaded: ${instructions.files.map(({ path }) => path).join(', ')}`);
  if (skills.length) notify(`Skills: ${skills.map(({ name }) => name).join(', ')}`);
}
