// What is known to be secret here: variables that look like secrets, and the keys that are set, wherever they were set.
import { openKeeper, secretKeeper, type SecretKeeper } from '../../guards/secrets/keeper.ts';
import { isSecret } from '../../workspace/environment.ts';
import type { Settings } from './settings.ts';

type Told = Pick<Settings, 'all' | 'env'>;

/** Takes the secrets of these settings out of what tools give; nothing where the person wants to see it. */
export const keeperFor = (settings: Told): SecretKeeper =>
  settings.all.get('secrets')?.value === 'show' ? openKeeper : strictKeeper(settings);

/** Takes the secrets of these settings out of what is told to others, whatever the person wants to see. */
export function strictKeeper({ all, env }: Told): SecretKeeper {
  const named = Object.entries(env).flatMap(([name, value = '']): [string, string][] =>
    isSecret(name, value) ? [[name, value]] : [],
  );
  const keys = [...all].flatMap(([key, { value }]): [string, string][] =>
    key.startsWith('keys.') ? [[key.slice('keys.'.length), String(value)]] : [],
  );
  return secretKeeper([...named, ...keys]);
}
