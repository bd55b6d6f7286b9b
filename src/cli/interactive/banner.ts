// The first lines of an interactive session: what is used, what was loaded, and how to go on.
import { formatNoToolsWarning } from '../../coding-agent/models/resolve-model.ts';
import type { CommandContext } from '../slash-commands/context.ts';
import { notifyLoadedResources } from '../slash-commands/loaded-resources.ts';

/** Greets the person. */
export function showBanner(desk: CommandContext): void {
  const { conversation: talk, notify: say } = desk;
  say(`Fairlead with ${talk.model.name}, session "${talk.name}". /help lists the commands; Ctrl+D leaves.`);
  for (const warning of talk.settings.warnings) say(warning, 'warning');
  notifyLoadedResources(desk);
  const { name, description: about } = talk.agent.sandbox;
  if (name === 'none') say(`No sandbox: ${about}`, 'warning');
  if (name === 'refused') say(about, 'warning');
  const poor = formatNoToolsWarning(talk.model);
  if (poor !== undefined) say(poor, 'warning');
}
