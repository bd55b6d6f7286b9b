// Reads and writes config files: JSON with the keys of the settings schema, nested at the dots; unknown keys are preserved.
import { statSync } from 'node:fs';
import path from 'node:path';
import { FairleadError, isObject, type Json, type JsonObject, errorMessage } from '../../core/index.ts';
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

const maxBytes = 1024 * 1024;

/** Finds the nearest regular file with this name from a directory upwards, among the directories that `accepts` accepts. */
export function findNearestFile(
  folder: string,
  name: string,
  accepts: (dir: string) => boolean = () => true,
): string | undefined {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const file = path.join(at, name);
    if (isFile(file) && accepts(at)) return file;
    if (path.dirname(at) === at) return undefined;
  }
}

/** A pipe or a device with this name would block the program. */
function isFile(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}

/** Why a file is not used: on a shared machine another user can create one in a parent directory. */
export function getUntrustedReason(file: string): string | undefined {
  try {
    const { uid, size } = statSync(file);
    const ownUid = process.getuid?.();
    if (ownUid !== undefined && ownUid !== 0 && uid !== ownUid && uid !== 0)
      return `${file} is not used: it belongs to another user.`;
    return size > maxBytes ? `${file} is not used: it is larger than a settings file can be.` : undefined;
  } catch (error) {
    return `${file} is not used: ${errorMessage(error)}`;
  }
}
