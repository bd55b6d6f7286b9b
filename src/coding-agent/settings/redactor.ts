// What is known to be secret here: variables that look like secrets, and the keys that are set, wherever they were set.
import { noRedaction, createRedactor, type Redactor } from '../../guards/redaction/redactor.ts';
import { isSecretVariable } from '../../workspace/environment.ts';
import type { Settings } from './settings.ts';

type RedactorSettings = Pick<Settings, 'all' | 'env'>;

/** Takes the secrets of these settings out of what tools give; nothing where the person wants to see it. */
export const createSettingsRedactor = (settings: RedactorSettings): Redactor =>
  settings.all.get('secrets')?.value === 'show' ? noRedaction : createStrictRedactor(settings);

/** Takes the secrets of these settings out of what is told to others, whatever the person wants to see. */
export function createStrictRedactor({ all, env }: RedactorSettings): Redactor {
  const named = Object.entries(env).flatMap(([name, value = '']): [string, string][] =>
    isSecretVariable(name, value) ? [[name, value]] : [],
  );
  const keys = [...all].flatMap(([key, { value }]): [string, string][] =>
    key.startsWith('keys.') ? [[key.slice('keys.'.length), String(value)]] : [],
  );
  return createRedactor([...named, ...keys]);
}
