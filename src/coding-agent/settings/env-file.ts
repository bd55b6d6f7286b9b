// The `.env` file around the working folder: the nearest one, its plain settings only. It belongs to whoever wrote the project, so it may not steer the machine.
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { errorMessage } from '../../core/index.ts';
import { families } from '../../providers/families.ts';

/** What a `.env` file gives. */
export type EnvFile = {
  readonly file: string;
  readonly values: Readonly<Record<string, string>>;
  /** Settings of ours that are not taken from such a file, and files that were passed over: one sentence each. */
  readonly warnings: readonly string[];
};

/** Names of ours that a project could use against the person who opens it; only the real environment may set them. */
const refusedVariables: ReadonlySet<string> = new Set([
  'XDG_CONFIG_HOME',
  'HARNESS_STORE',
  ...families.flatMap(({ urlVariables }) => urlVariables),
]);

/** What a `.env` file may set. Everything else in it is meant for other programs and is not even looked at. */
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

/** The nearest `.env` file from a folder upwards; nothing if there is none. */
export function readEnvFile(folder: string): EnvFile | undefined {
  const file = findNearestFile(folder, '.env');
  if (file === undefined) return undefined;
  const stranger = getUntrustedReason(file);
  if (stranger !== undefined) return { file, values: {}, warnings: [stranger] };
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

/** The nearest regular file of this name from a folder upwards. */
export function findNearestFile(folder: string, name: string): string | undefined {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const file = path.join(at, name);
    if (isFile(file)) return file;
    if (path.dirname(at) === at) return undefined;
  }
}

/** A pipe or a device under a familiar name would keep the program waiting. */
function isFile(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    return false;
  }
}

/** Why a file that was found is not believed: on a shared machine anybody can put one into a folder above. */
export function getUntrustedReason(file: string): string | undefined {
  try {
    const { uid, size } = statSync(file);
    const me = process.getuid?.();
    if (me !== undefined && me !== 0 && uid !== me && uid !== 0)
      return `${file} is not used: it belongs to another user.`;
    return size > maxBytes ? `${file} is not used: it is larger than a settings file can be.` : undefined;
  } catch (error) {
    return `${file} is not used: ${errorMessage(error)}`;
  }
}
