// A config file: JSON with the keys of the table, nested by their dots. Keys that this version does not know are kept.
import { FairleadError, isObject, type Json, type JsonObject } from '../../core/index.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/private-file.ts';

/** The content of a config file; empty if there is none. */
export const readConfig = (file: string): JsonObject => parseConfig(readTextIfExists(file) ?? '', file);

/** The config that a text holds; `where` names it in the error if it holds none. */
export function parseConfig(text: string, where: string): JsonObject {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw badConfigError(where, (error as Error).message);
  }
  if (!isObject(value)) throw badConfigError(where, 'it must hold an object');
  return value as JsonObject;
}

const badConfigError = (file: string, why: string): FairleadError =>
  new FairleadError('settings/bad-file', `${file} is not a config file: ${why}.`, {
    blame: 'user',
    hint: 'Mend it with "fairlead config edit", or remove it.',
  });

/** What a config holds under a dotted key; nothing if there is nothing. */
export function getConfigValue(config: JsonObject, key: string): Json | undefined {
  let at: Json | undefined = config;
  for (const word of key.split('.')) {
    if (!isObject(at) || !Object.hasOwn(at, word)) return undefined;
    at = at[word] as Json;
  }
  return at;
}

/** The config with another value under a dotted key, or without one; objects that are then empty go too. */
export function setConfigValue(config: JsonObject, key: string, value: Json | undefined): JsonObject {
  const [first = '', ...rest] = key.split('.');
  const { [first]: old, ...others } = config;
  if (rest.length === 0) return value === undefined ? others : { ...config, [first]: value };
  const inner = setConfigValue(isObject(old) ? old : {}, rest.join('.'), value);
  return Object.keys(inner).length === 0 ? others : { ...config, [first]: inner };
}

/** Replaces a config file. */
export const writeConfig = (file: string, config: JsonObject): void =>
  writeTextAtomic(file, `${JSON.stringify(config, null, 2)}\n`);
