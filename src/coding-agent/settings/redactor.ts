// Creates the redactor of the settings: variables that look like secrets, and all configured keys.
import { noRedaction, createRedactor, type Redactor } from '../../guards/redaction/index.ts';
import { isSecretVariable } from '../../workspace/index.ts';
import type { Settings } from './settings.ts';

type RedactorSettings = Pick<Settings, 'all' | 'env'>;

/** A redactor for tool outputs; it redacts nothing if the user chose to see secrets. */
export const createSettingsRedactor = (settings: RedactorSettings): Redactor =>
  settings.all.get('secrets')?.value === 'show' ? noRedaction : createStrictRedactor(settings);

/** A redactor for what leaves the process, whatever the user chose to see. */
export function createStrictRedactor({ all, env }: RedactorSettings): Redactor {
  const named = Object.entries(env).flatMap(([name, value = '']): [string, string][] =>
    isSecretVariable(name, value) ? [[name, value]] : [],
  );
  const keys = [...all].flatMap(([key, { value }]): [string, string][] =>
    key.startsWith('keys.') ? [[key.slice('keys.'.length), String(value)]] : [],
  );
  return createRedactor([...named, ...keys]);
}
