// The name of the program in messages: that of the selected profile.
import { formatError } from '../../core/index.ts';

/** Replaces `fairlead` at the beginning of a command by the program of the selected profile. Use it for texts of this program only, never for texts of the user or the model. */
export const withProgramName = (text: string): string =>
  process.env['HARNESS_PROFILE'] === 'jayjader'
    ? text.replace(/(?<![\w/.-])fairlead(?= (?:-|[a-z<"]))/g, 'start-harness-jayjader')
    : text;

/** Formats an error with its hint; the hint names the program of the selected profile. */
export function formatCliError(error: Error): string {
  const text = formatError(error);
  const { message } = error;
  return text.startsWith(message) ? message + withProgramName(text.slice(message.length)) : text;
}
