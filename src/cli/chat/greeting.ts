// The first lines of an interactive session: what is used, what was loaded, and how to go on.
import { talkOnly } from '../conversation/model.ts';
import type { Desk } from '../slash/desk.ts';
import { tellLoaded } from '../slash/loaded.ts';

/** Greets the person. */
export function greet(desk: Desk): void {
  const { talk, say } = desk;
  say(`Fairlead with ${talk.model.name}, session "${talk.name}". /help lists the commands; Ctrl+D leaves.`);
  for (const warning of talk.settings.warnings) say(warning, 'warning');
  tellLoaded(desk);
  const { name, description: about } = talk.outfit.sandbox;
  if (name === 'none') say(`No sandbox: ${about}`, 'warning');
  if (name === 'refused') say(about, 'warning');
  const poor = talkOnly(talk.model);
  if (poor !== undefined) say(poor, 'warning');
}
