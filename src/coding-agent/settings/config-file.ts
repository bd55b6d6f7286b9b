// Reads and writes config files: JSON with the keys of the settings schema, nested at the dots. Unknown keys are preserved.
import { FairleadError, isObject, type Json, type JsonObject } from '../../core/index.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/index.ts';

/** Reads a config file; empty if it does not exist. */
export const readConfig = (file: string): JsonObject => parseConfig(readTextIfExists(file) ?? '', file);

/** Parses a config; `where` names its source in the error. */
export function parseConfig(text: string, where: string): JsonObject {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw badConfigError(where, (error as Error).message);
  }
  if (!isObject(value)) throw badConfigError(where, 'it must be an object');
  return value as JsonObject;
}

const badConfigError = (file: string, reason: string): FairleadError =>
  new FairleadError('settings/bad-file', `${file} is not a config file: ${reason}.`, {
    blame: 'user',
    hint: 'Fix it with "fairlead config edit", or remove it.',
  });

/** The value of a dotted key; absent if it is not set. */
export function getConfigValue(config: JsonObject, key: string): Json | undefined {
  let at: Json | undefined = config;
  for (const name of key.split('.')) {
    if (!isObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name] as Json;
  }
  return at;
}

/** Sets or removes the value of a dotted key; objects that become empty are removed. */
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
