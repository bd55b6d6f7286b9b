// The first lines of an interactive session: what is used, what was loaded, and how to go on.
import { formatNoToolsWarning } from '../../coding-agent/models/resolve-model.ts';
import type { CommandContext } from '../slash-commands/context.ts';
import { notifyLoadedResources } from '../slash-commands/loaded-resources.ts';

/** Greets the person. */
export function showBanner(desk: CommandContext): void {
  const { conversation, notify } = desk;
  notify(
    `Fairlead with ${conversation.model.name}, session "${conversation.name}". /help lists the commands; Ctrl+D leaves.`,
  );
  for (const warning of conversation.settings.warnings) notify(warning, 'warning');
  notifyLoadedResources(desk);
  const { name, description } = conversation.agent.sandbox;
  if (name === 'none') notify(`No sandbox: ${description}`, 'warning');
  if (name === 'refused') notify(description, 'warning');
  const poor = formatNoToolsWarning(conversation.model);
  if (poor !== undefined) notify(poor, 'warning');
}
