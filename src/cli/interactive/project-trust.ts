// Asks the user at the start of the interactive mode whether settings of a project are used.
import { errorMessage } from '../../core/index.ts';
import type { UserPrompter } from '../../coding-agent/integrations/index.ts';
import {
  formatTrustQuestion,
  readSettings,
  recordProjectTrust,
  type Settings,
} from '../../coding-agent/settings/index.ts';

/** Asks about files of the project that are new or changed, and returns the settings after the answers. Input from a pipe answers nothing. */
export async function askProjectTrust(settings: Settings, prompter: UserPrompter): Promise<Settings> {
  if (!process.stdin.isTTY) return settings;
  const asked = settings.projectFiles.filter(
    ({ status, used }) => used.length > 0 && (status === 'new' || status === 'changed'),
  );
  if (asked.length === 0) return settings;
  for (const file of asked) {
    const isTrusted = await prompter.confirm(formatTrustQuestion(file), file.lines.join('\n'));
    try {
      recordProjectTrust(settings.dirs.state, file, isTrusted);
    } catch (error) {
      prompter.notify(`The answer could not be saved, so the file is not used. ${errorMessage(error)}`);
    }
  }
  return readSettings();
}
