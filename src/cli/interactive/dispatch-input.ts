// What a line that was entered means: a slash command, a shell command, or words for the model.
import { runPromptHooks } from '../../coding-agent/prompt-hooks.ts';
import { parseSlashCommand, formatUnknownCommand } from '../slash-commands/registry.ts';
import type { CommandContext } from '../slash-commands/context.ts';
import { runUserShellCommand } from './shell-command.ts';

/** Whether a line may be handled while something goes on: words join a run, and some commands only look. */
export function isAllowedDuringRun(
  text: string,
  { conversation, isRunning }: Pick<CommandContext, 'conversation' | 'isRunning'>,
): boolean {
  if (text.startsWith('!')) return false;
  return text.startsWith('/')
    ? (parseSlashCommand(text, conversation.agent.commands)?.command.allowedDuringRun ?? false)
    : isRunning;
}

/** Does what a line says. While a run goes on, words join it: at the next step, or after its answer. */
export async function dispatchInput(
  desk: CommandContext,
  text: string,
  how: 'enter' | 'follow-up' = 'enter',
): Promise<void> {
  const { conversation } = desk;
  if (text.startsWith('/')) {
    const found = parseSlashCommand(text, conversation.agent.commands);
    if (!found) return desk.notify(formatUnknownCommand(text, conversation.agent.commands), 'warning');
    await found.command.run(found.args, desk);
    return undefined;
  }
  if (text.startsWith('!')) return runUserShellCommand(desk, text);
  if (!desk.isRunning) return desk.runAgent(text);
  // Without a listener nothing comes between a word and its place in the run.
  if (conversation.agent.hooks) await runPromptHooks(conversation, text);
  await (how === 'enter' ? conversation.session.steer(text) : conversation.session.followUp(text));
}
