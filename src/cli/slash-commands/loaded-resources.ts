// What was found for a working folder, told to the person: instructions, skills, and what was passed over.
import type { CommandContext } from './context.ts';

/** Tells what was loaded for the folder the conversation is in. */
export function notifyLoadedResources({
  conversation: talk,
  notify: say,
}: Pick<CommandContext, 'conversation' | 'notify'>): void {
  const { origin } = talk.settings.all.get('instructions') ?? {};
  if (origin?.type === 'project') say(`Instructions loaded: ${origin.file}`);
  const { instructions, skills, problems } = talk.agent;
  for (const problem of problems) say(problem, 'warning');
  if (talk.model.tools === false) return;
  if (instructions.files.length) say(`Instructions loaded: ${instructions.files.map(({ path }) => path).join(', ')}`);
  if (skills.length) say(`Skills: ${skills.map(({ name }) => name).join(', ')}`);
}
