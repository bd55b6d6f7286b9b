// Stores a key of a provider in the private settings file of the user after a request has shown that it works, and removes it.
import { FairleadError } from '../../core/index.ts';
import {
  families,
  findApiKey,
  findFamily,
  resolveBaseUrl,
  verifyKey,
  type ProviderFamily,
} from '../../providers/index.ts';
import { forgetModels } from '../state/index.ts';
import {
  getConfigValue,
  getSettingEntry,
  parseSettingValue,
  readConfig,
  setConfigValue,
  writeConfig,
  type Settings,
} from '../settings/index.ts';
import { unknownModelError } from './unknown-model.ts';

/** A key that the user enters. */
export type LoginRequest = {
  /** The name of the provider, or an alias of it. */
  readonly provider: string;
  /** The key; may be empty for a server of the user that needs none. */
  readonly key: string;
  /** The URL of a server of the user, or of a proxy in front of a company. */
  readonly url?: string;
  readonly signal?: AbortSignal;
};

/** What a login stored. */
export type LoginResult = {
  readonly provider: string;
  readonly modelCount: number;
  /** The settings file. */
  readonly file: string;
  /** A variable of the environment that overrides what was stored. */
  readonly overriddenBy?: string;
};

/** The providers that a user can log in to: companies, and servers that may need a key. */
export const loginProviders: readonly ProviderFamily[] = families.filter(
  ({ local, name }) => !local || name === 'openai-compatible',
);

/** Verifies a key with a request to its provider, and stores it in the settings file, which only the user can read. A key that does not work is not stored. */
export async function login(settings: Settings, { provider, key, url, signal }: LoginRequest): Promise<LoginResult> {
  const family = requireFamily(provider);
  const variable = family.keyVariables[0] ?? '';
  const value = key.trim();
  if (value === '' && !family.local)
    throw new FairleadError('login/no-key', 'No key was entered, so nothing is stored.', { blame: 'user' });
  const checkedKey = value === '' ? undefined : parseKey(variable, value);
  const address =
    url === undefined
      ? undefined
      : String(parseSettingValue('url', getSettingEntry(`urls.${family.name}`), url, 'The URL'));
  const models = await verifyKey(
    {
      provider: family.name,
      ...(address === undefined ? {} : { baseUrl: address }),
      ...(checkedKey === undefined ? {} : { apiKey: checkedKey }),
    },
    { env: settings.env, ...(signal ? { signal } : {}) },
  ).catch((error: unknown) => {
    throw toLoginError(error, family);
  });
  const file = settings.userFile;
  let config = readConfig(file);
  if (checkedKey !== undefined) config = setConfigValue(config, `keys.${variable}`, checkedKey);
  if (address !== undefined) config = setConfigValue(config, `urls.${family.name}`, address);
  writeConfig(file, config);
  const shadow = settings.all.get(`keys.${variable}`)?.origin;
  return {
    provider: family.name,
    modelCount: models.length,
    file,
    ...(checkedKey !== undefined && shadow?.type === 'environment' ? { overriddenBy: shadow.name } : {}),
  };
}

/** Removes the stored keys and the stored URL of a provider; returns their names in the settings file, and a variable that still holds a key. */
export function logout(
  settings: Settings,
  provider: string,
): { readonly removed: readonly string[]; readonly stillSet?: string } {
  const family = requireFamily(provider);
  const names = [...family.keyVariables.map((variable) => `keys.${variable}`), `urls.${family.name}`];
  const config = readConfig(settings.userFile);
  const removed = names.filter((name) => getConfigValue(config, name) !== undefined);
  let rest = config;
  for (const name of removed) rest = setConfigValue(rest, name, undefined);
  if (removed.length > 0) writeConfig(settings.userFile, rest);
  forgetModels(settings, family.name);
  const stillSet = family.keyVariables.find((name) => {
    const origin = settings.all.get(`keys.${name}`)?.origin.type;
    return origin === 'environment' || origin === 'env-file';
  });
  return { removed, ...(stillSet === undefined ? {} : { stillSet }) };
}

/** The providers with a stored key or URL. */
export const listLogins = (settings: Settings): readonly string[] => {
  const config = readConfig(settings.userFile);
  return families
    .filter((family) =>
      [...family.keyVariables.map((variable) => `keys.${variable}`), `urls.${family.name}`].some(
        (name) => getConfigValue(config, name) !== undefined,
      ),
    )
    .map(({ name }) => name);
};

/** Where the key of a login is sent, for the question to the user. */
export const formatLoginTarget = (provider: string, url: string | undefined, settings: Settings): string => {
  const family = requireFamily(provider);
  const host = URL.parse(resolveBaseUrl(family, url, settings.env))?.host ?? '';
  return `${family.vendor ?? family.name} (${host})`;
};

/** Whether the provider has a key already. */
export const hasKey = (provider: string, { env }: Settings): boolean => {
  const family = findFamily(provider);
  return family !== undefined && findApiKey(family, env) !== undefined;
};

function requireFamily(provider: string): ProviderFamily {
  const family = findFamily(provider);
  if (family && family.protocol !== 'embedded') return family;
  if (family) throw new FairleadError('login/no-key-needed', 'The embedded model needs no key.', { blame: 'user' });
  throw unknownModelError(`${provider}/`, [], undefined);
}

/** A key in a message of the settings would be shown; this sentence does not contain it. */
function parseKey(variable: string, key: string): string {
  if (!/\s/.test(key))
    return String(parseSettingValue(`keys.${variable}`, getSettingEntry(`keys.${variable}`), key, 'The key'));
  throw new FairleadError('login/bad-key', 'A key is one word without spaces; nothing is stored.', { blame: 'user' });
}

function toLoginError(error: unknown, family: ProviderFamily): unknown {
  if (!(error instanceof FairleadError)) return error;
  const isWrong = error.code === 'provider/unauthorized';
  return new FairleadError(
    isWrong ? 'login/wrong-key' : error.code,
    isWrong
      ? `${family.vendor ?? family.name} does not accept this key. Nothing is stored.`
      : `The key was not verified, so nothing is stored: ${error.message}`,
    { blame: error.blame, ...(error.hint === undefined || isWrong ? {} : { hint: error.hint }), cause: error },
  );
}
