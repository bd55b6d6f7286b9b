// The slash command /private: marks a value as private, so that it is replaced or asked about on every way out.
import type { SlashCommand } from './slash-command.ts';

/** The slash command `/private`. */
export const privateCommand: SlashCommand = {
  name: 'private',
  description: 'mark a value as private: models that are not local see a token, and sending it needs an approval',
  argumentHint: '<value>',
  allowedDuringRun: true,
  async run(args, { conversation, notify }) {
    const { findDlpAction, listPrivateNames, storePrivateValue } = await import('../../coding-agent/dlp/index.ts');
    const { session, settings } = conversation;
    if (args.trim() === '') {
      const names = listPrivateNames(settings.dirs);
      return notify(
        names.length === 0 ? 'No value is marked: /private <value>.' : `Private values (dlp.json): ${names.join(', ')}`,
      );
    }
    const name = storePrivateValue(args, settings.dirs);
    await session.annotate('dlp-marked', { name });
    if (findDlpAction(settings) === 'off')
      return notify(`Marked as "${name}", but the setting dlp is off: nothing is searched.`, 'warning');
    return notify(`Marked as "${name}". It is searched for on every way out, in this and later sessions.`);
  },
};
