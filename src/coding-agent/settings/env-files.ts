// Reads the nearest `.env` file of the user and the nearest one of a project. A project's file sets less, and only after the user trusted it.
import { readFileSync, realpathSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { ancestorDirs } from '../../agent/project-files/index.ts';
import { errorMessage } from '../../core/index.ts';
import { families } from '../../providers/index.ts';
import { findNearestFile, getUntrustedReason } from './config-file.ts';

/** The accepted variables of a `.env` file. */
export type EnvFile = {
  readonly file: string;
  readonly values: Readonly<Record<string, string>>;
  /** Variables and files that are not used, one sentence each. */
  readonly warnings: readonly string[];
};

/** The `.env` files that apply in a directory. */
export type EnvFiles = {
  /** The nearest file in the home directory or above it: an attacker who can write it needs no other access. */
  readonly own: EnvFile | undefined;
  /** The nearest file in any other directory. */
  readonly project: EnvFile | undefined;
};

/** Variables that decide where state, approvals and sessions are; the author of a project could fill such a directory. */
const dirVariables = ['HARNESS_PROFILE', 'HARNESS_ROOT_DIRS_NAME', 'XDG_STATE_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME'];

/** Variables that no `.env` file sets; only the real environment does. */
const refusedVariables = ['XDG_CONFIG_HOME', 'HARNESS_STORE', ...families.flatMap(({ urlVariables }) => urlVariables)];

/** The variables that a project's file may set. All others are ignored: they are meant for other programs. */
const projectVariables = [
  'HARNESS_MODEL',
  'HARNESS_INFERENCE_PROVIDER',
  'OLLAMA_API_URL',
  'SANDBOX_CONTAINER_RUNTIME_EXECUTABLE',
  'SANDBOX_CONTAINER_IMAGE',
  'SANDBOX_CONTAINER_WORKSPACE_VOLUME_NAME',
  ...families.flatMap(({ keyVariables }) => keyVariables),
];

/** Reads the files that apply in a directory. A project's file never hides the file of the user. */
export function readEnvFiles(cwd: string, home: string): EnvFiles {
  const isOwnDir = (dir: string): boolean => isWithin(home, dir);
  const own = findNearestFile(cwd, '.env', isOwnDir);
  const project = findNearestFile(cwd, '.env', (dir) => !isOwnDir(dir));
  return {
    own: own === undefined ? undefined : readEnvFile(own, [...projectVariables, ...dirVariables], refusedVariables),
    project:
      project === undefined
        ? undefined
        : readEnvFile(project, projectVariables, [...refusedVariables, ...dirVariables]),
  };
}

function readEnvFile(file: string, accepted: readonly string[], refused: readonly string[]): EnvFile {
  const reason = getUntrustedReason(file);
  if (reason !== undefined) return { file, values: {}, warnings: [reason] };
  try {
    return { file, ...parseVariables(file, readFileSync(file, 'utf8'), accepted, refused) };
  } catch (error) {
    return { file, values: {}, warnings: [`${file} is not used: ${errorMessage(error)}`] };
  }
}

function parseVariables(
  file: string,
  text: string,
  accepted: readonly string[],
  refused: readonly string[],
): Omit<EnvFile, 'file'> {
  const values: Record<string, string> = {};
  const warnings: string[] = [];
  for (const [name, value] of Object.entries(parseEnv(text))) {
    if (value === undefined || value.trim() === '') continue;
    if (accepted.includes(name)) values[name] = value;
    else if (refused.includes(name)) warnings.push(`${name} in ${file} is not used: set it in the environment.`);
  }
  return { values, warnings };
}

/** Whether a directory is another one or inside it; compares inodes, because one directory can have several paths. */
function isWithin(folder: string, outer: string): boolean {
  const target = statOrUndefined(outer);
  const isTarget = (at: string): boolean => {
    const stats = statOrUndefined(at);
    return stats !== undefined && stats.dev === target?.dev && stats.ino === target.ino;
  };
  return ancestorDirs(findNearestExisting(folder)).some(isTarget);
}

/** The real path of a directory, or of its nearest existing ancestor. */
function findNearestExisting(folder: string): string {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    try {
      return realpathSync.native(at);
    } catch {
      if (path.dirname(at) === at) return at;
    }
  }
}

function statOrUndefined(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
