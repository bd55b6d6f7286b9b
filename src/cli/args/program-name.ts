// The name of the program in messages: that of the selected profile.
import { FairleadError, formatError } from '../../core/index.ts';

/** Replaces `fairlead` at the beginning of a command by the program of the selected profile. Use it for texts of this program only, never for texts of the user or the model. */
export const withProgramName = (text: string): string =>
  process.env['HARNESS_PROFILE'] === 'jayjader'
    ? text.replace(/(?<![\w/.-])fairlead(?= (?:-|[a-z<"]))/g, 'start-harness-jayjader')
    : text;

/** Formats an error with its hint; the hint names the program of the selected profile. */
export function formatCliError(error: Error): string {
  const text = formatError(error);
  const { message } = error;
  // The providers know nothing of the settings, which can hold a key too.
  const login =
    error instanceof FairleadError && error.code === 'provider/no-key' ? ' To store a key: fairlead login' : '';
  return text.startsWith(message) ? message + withProgramName(text.slice(message.length) + login) : text;
}
