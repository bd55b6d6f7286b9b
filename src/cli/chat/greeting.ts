// The first lines of an interactive session: what is used, what was loaded, and how to go on.
import { waits } from '../conversation/asks.ts';
import { talkOnly } from '../conversation/model.ts';
import type { Desk } from '../slash/desk.ts';

/** Greets the person. */
export function greet({ talk, say }: Desk): void {
  const { instructions, skills } = talk.outfit;
  say(`Fairlead with ${talk.model.name}, session "${talk.name}". /help lists the commands; Ctrl+D leaves.`);
  for (const warning of [...talk.settings.warnings, ...talk.outfit.problems]) say(warning, 'warning');
  if (instructions.files.length) say(`Instructions loaded: ${instructions.files.map(({ path }) => path).join(', ')}`);
  if (skills.length) say(`Skills: ${skills.map(({ name }) => name).join(', ')}`);
  const poor = talkOnly(talk.model);
  if (poor !== undefined) say(poor, 'warning');
  if (talk.session.state.run !== undefined && !waits(talk.session.state))
    say('The last run of this session was not finished: /continue goes on with it.', 'warning');
}
