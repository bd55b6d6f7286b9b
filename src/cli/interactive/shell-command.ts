// Runs a shell command typed by the user: `!` also adds it to the conversation, `!!` hides it from the model.
import type { CommandContext } from '../slash-commands/context.ts';

/** How many characters of the output are shown to the model. */
const maxShownChars = 20_000;

/** Runs the command after the exclamation marks, as the user. */
export async function runUserShellCommand(
  { conversation, ui, signal, notify }: CommandContext,
  line: string,
): Promise<void> {
  const hidden = line.startsWith('!!');
  const command = line.slice(hidden ? 2 : 1).trim();
  if (command === '') return notify('Write a command after the exclamation mark, such as !ls.', 'warning');
  const id = `sh${crypto.randomUUID().slice(0, 8)}`;
  const block = {
    type: 'call',
    id,
    tool: hidden ? 'shell, not shown to the model' : 'shell',
    input: { command },
  } as const;
  ui.putBlock({ ...block, status: 'running' });
  const { code, text } = await conversation.agent.workspace.exec(command, {
    signal,
    onOutput: (chunk) => ui.appendText(id, chunk),
  });
  ui.putBlock({ ...block, status: code === 0 ? 'ok' : 'failed', output: text });
  if (!hidden)
    await conversation.addNote(
      `I ran this command myself:\n$ ${command}\n${conversation.agent.redactor.redact(text).slice(0, maxShownChars)}\n(exit code ${code ?? 'none'})`,
    );
  return undefined;
}
