// Reads and writes config files (JSON with the keys of the settings schema, nested at the dots; unknown keys are preserved), and reads .env files.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { FairleadError, isObject, type Json, type JsonObject, errorMessage } from '../../core/index.ts';
import { readTextIfExists, writeTextAtomic } from '../../stores/index.ts';
import { families } from '../../providers/index.ts';

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

/** The used variables of a `.env` file. */
export type EnvFile = {
  readonly file: string;
  readonly values: Readonly<Record<string, string>>;
  /** Variables and files that are not used, one sentence each. */
  readonly warnings: readonly string[];
};

/** Variables that a project could use against the user; only the real environment may set them. */
const refusedVariables: ReadonlySet<string> = new Set([
  'XDG_CONFIG_HOME',
  'HARNESS_STORE',
  ...families.flatMap(({ urlVariables }) => urlVariables),
]);

/** The variables that a `.env` file may set. All others are ignored: they are meant for other programs. */
const allowedVariables: ReadonlySet<string> = new Set([
  'HARNESS_ROOT_DIRS_NAME',
  'HARNESS_MODEL',
  'HARNESS_INFERENCE_PROVIDER',
  'OLLAMA_API_URL',
  'SANDBOX_CONTAINER_RUNTIME_EXECUTABLE',
  'SANDBOX_CONTAINER_IMAGE',
  'SANDBOX_CONTAINER_WORKSPACE_VOLUME_NAME',
  'XDG_STATE_HOME',
  'XDG_DATA_HOME',
  'XDG_CACHE_HOME',
  ...families.flatMap(({ keyVariables }) => keyVariables),
]);

const maxBytes = 1024 * 1024;

/** Reads the nearest `.env` file from a directory upwards; absent if there is none. */
export function readEnvFile(folder: string): EnvFile | undefined {
  const file = findNearestFile(folder, '.env');
  if (file === undefined) return undefined;
  const reason = getUntrustedReason(file);
  if (reason !== undefined) return { file, values: {}, warnings: [reason] };
  try {
    return parseEnvFile(file, readFileSync(file, 'utf8'));
  } catch (error) {
    return { file, values: {}, warnings: [`${file} is not used: ${errorMessage(error)}`] };
  }
}

function parseEnvFile(file: string, text: string): EnvFile {
  const values: Record<string, string> = {};
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(parseEnv(text))) {
    if (value === undefined || value.trim() === '') continue;
    if (allowedVariables.has(name)) values[name] = value;
    else if (refusedVariables.has(name)) warnings.push(`${name} in ${file} is not used: set it in the environment.`);
  }
  return { file, values, warnings };
}

/** Finds the nearest regular file with this name from a directory upwards. */
export function findNearestFile(folder: string, name: string): string | undefined {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const file = path.join(at, name);
    if (isFile(file)) return file;
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
