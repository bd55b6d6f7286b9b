// Rejects directories that a `.env` file may not choose: the author of the project could fill them with forged state, sessions and approvals.
import { realpathSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { findRepositoryRoot, ancestorDirs } from '../../agent/project-files/index.ts';
import type { Environment } from '../../providers/index.ts';
import type { EnvFile } from './config-file.ts';
import { getAppDirs, appDirVariables, type AppDirs } from './dirs.ts';

/** Removes the variables that point to a directory the file may not choose; adds a warning for each. */
export function withoutUntrustedDirs(
  envFile: EnvFile,
  { env, home, platform }: { readonly env: Environment; readonly home: string; readonly platform: NodeJS.Platform },
): EnvFile {
  let { values } = envFile;
  const warnings = [...envFile.warnings];
  const getDirs = (): AppDirs => getAppDirs({ ...values, ...env }, home, platform);
  for (const place of ['state', 'data', 'cache'] as const)
    for (const name of [appDirVariables[place], 'HARNESS_ROOT_DIRS_NAME']) {
      const { [name]: value, ...others } = values;
      if (value === undefined || env[name] !== undefined) continue;
      const why = getDirObjection(getDirs()[place], envFile.file, home);
      if (why === undefined) continue;
      values = others;
      warnings.push(`${name} in ${envFile.file} is not used: ${why}. Set it in the environment if you want it.`);
    }
  return { ...envFile, values, warnings };
}

/** Why this file may not choose a directory; absent if it may. */
function getDirObjection(folder: string, file: string, home: string): string | undefined {
  const fileDir = path.dirname(file);
  // A file in the home directory or above it belongs to the user: an attacker who can write it needs no other access.
  if (isWithin(home, fileDir)) return undefined;
  const existing = findNearestExisting(folder);
  if ([folder, existing].some((each) => /^\/(proc|dev|sys)(\/|$)/.test(each)))
    return 'it leads into the system’s own folders';
  const root = findRepositoryRoot(fileDir);
  const project = root === undefined || isWithin(home, root) ? fileDir : root;
  if (isWithin(existing, project)) return 'it leads into the project that the file belongs to';
  return isWritableByOthers(existing) ? 'it leads into a folder where others can write' : undefined;
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

/** Whether a directory is another one or inside it; compares inodes, because one directory can have several paths. */
function isWithin(folder: string, outer: string): boolean {
  const target = statOrUndefined(outer);
  const isTarget = (at: string): boolean => {
    const stats = statOrUndefined(at);
    return stats !== undefined && stats.dev === target?.dev && stats.ino === target.ino;
  };
  return ancestorDirs(findNearestExisting(folder)).some(isTarget);
}

function isWritableByOthers(folder: string): boolean {
  const ownUid = process.getuid?.();
  const stats = statOrUndefined(folder);
  if (ownUid === undefined || !stats) return false;
  return (stats.mode & 0o002) !== 0 || (ownUid !== 0 && stats.uid !== ownUid && stats.uid !== 0);
}

function statOrUndefined(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
