// What a line that was entered means: a slash command, a shell command, or words for the model.
import { heed } from '../conversation/heeding.ts';
import { commandIn, unknownCommand } from '../slash/table.ts';
import type { Desk } from '../slash/desk.ts';
import { runShell } from './shell.ts';

/** Whether a line may be handled while something goes on: words join a run, and some commands only look. */
export function mayInterrupt(text: string, { talk, conversing }: Pick<Desk, 'talk' | 'conversing'>): boolean {
  if (text.startsWith('!')) return false;
  return text.startsWith('/') ? (commandIn(text, talk.outfit.commands)?.command.anytime ?? false) : conversing;
}

/** Does what a line says. While a run goes on, words join it: at the next step, or after its answer. */
export async function handleLine(desk: Desk, text: string, how: 'enter' | 'follow-up' = 'enter'): Promise<void> {
  const { talk } = desk;
  if (text.startsWith('/')) {
    const found = commandIn(text, talk.outfit.commands);
    if (!found) return desk.say(unknownCommand(text, talk.outfit.commands), 'warning');
    await found.command.run(found.args, desk);
    return undefined;
  }
  if (text.startsWith('!')) return runShell(desk, text);
  if (!desk.conversing) return desk.converse(text);
  // Without a listener nothing comes between a word and its place in the run.
  if (talk.outfit.ears) await heed(talk, text);
  await (how === 'enter' ? talk.session.steer(text) : talk.session.followUp(text));
}
