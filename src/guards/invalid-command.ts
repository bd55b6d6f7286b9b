// Detects commands that no shell accepts. They are denied without asking the user.
import { isObject, type ToolCall } from '../core/index.ts';

/** Max length of a command. */
export const maxCommandLength = 100_000;

/** Returns why the command of a call cannot run; undefined if it can, or if the call has no command. */
export function invalidCommandReason({ input }: Pick<ToolCall, 'input'>): string | undefined {
  const { command } = isObject(input) ? input : {};
  if (typeof command !== 'string') return undefined;
  if (command.length > maxCommandLength)
    return `The command is longer than ${maxCommandLength} characters; write a script and run that.`;
  if (command.includes('\0') || !command.isWellFormed())
    return 'The command contains a NUL character or invalid Unicode, so nothing was run.';
  return undefined;
}
