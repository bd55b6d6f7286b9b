// Removes the stored key of a provider and states what was removed.
import { FairleadError } from '../../core/index.ts';
import { listLogins, logout } from '../../coding-agent/models/index.ts';
import type { Settings } from '../../coding-agent/settings/index.ts';

/** Logs out of a provider, of the only one if none is named, and returns what was done in one or two sentences. */
export function formatLogout(settings: Settings, named: string): string {
  const stored = listLogins(settings);
  const [only] = stored;
  if (named === '' && stored.length !== 1)
    throw new FairleadError(
      'login/which',
      stored.length === 0 ? 'No key is stored.' : `Keys of several providers are stored: ${stored.join(', ')}.`,
      { blame: 'user', ...(stored.length === 0 ? {} : { hint: 'Name one of them.' }) },
    );
  const provider = named === '' ? (only ?? '') : named;
  const { removed, stillSet } = logout(settings, provider);
  const done =
    removed.length === 0
      ? `No key of ${provider} is stored in ${settings.userFile}.`
      : `Removed ${removed.join(' and ')} from ${settings.userFile}.`;
  return stillSet === undefined ? done : `${done} ${stillSet} is still set in the environment.`;
}
