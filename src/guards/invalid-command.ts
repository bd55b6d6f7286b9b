// Commands that no shell could take: there is nothing to ask a person about them.
import { isObject, type ToolCall } from '../core/index.ts';

/** Longer than any command that would be run. */
export const maxCommandLength = 100_000;

/** Why the command of a call cannot be run, a sentence; nothing where it can, or where there is none. */
export function invalidCommandReason({ input }: Pick<ToolCall, 'input'>): string | undefined {
  const { command } = isObject(input) ? input : {};
  if (typeof command !== 'string') return undefined;
  if (command.length > maxCommandLength)
    return `The command is longer than ${maxCommandLength} characters; write a script and run that.`;
  if (command.includes('\0') || !command.isWellFormed())
    return 'The command holds a NUL character or broken Unicode, so nothing was run.';
  return undefined;
}
