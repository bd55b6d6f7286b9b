// Which folders a `.env` file may not send the program to: whoever wrote a project could fill them with lists, sessions and answers of their own.
import { realpathSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { findRepositoryRoot, ancestorDirs } from '../../agent/project-files/paths.ts';
import type { Environment } from '../../providers/resolve.ts';
import type { EnvFile } from './env-file.ts';
import { getAppDirs, appDirVariables, type AppDirs } from './dirs.ts';

/** The file without the names that would lead into a place it may not choose; a warning for each. */
export function withoutUntrustedDirs(
  envFile: EnvFile,
  { env, home, platform }: { readonly env: Environment; readonly home: string; readonly platform: NodeJS.Platform },
): EnvFile {
  let { values } = envFile;
  const warnings = [...envFile.warnings];
  const placed = (): AppDirs => getAppDirs({ ...values, ...env }, home, platform);
  for (const place of ['state', 'data', 'cache'] as const)
    for (const name of [appDirVariables[place], 'HARNESS_ROOT_DIRS_NAME']) {
      const { [name]: value, ...others } = values;
      if (value === undefined || env[name] !== undefined) continue;
      const why = getDirObjection(placed()[place], envFile.file, home);
      if (why === undefined) continue;
      values = others;
      warnings.push(`${name} in ${envFile.file} is not used: ${why}. Set it in the environment if you want it.`);
    }
  return { ...envFile, values, warnings };
}

/** Why the program may not be sent to a folder by this file; nothing if it may. */
function getDirObjection(folder: string, file: string, home: string): string | undefined {
  const near = path.dirname(file);
  // A file around the whole home is the person's own: who could write it needs no other way in.
  if (isWithin(home, near)) return undefined;
  const there = findNearestExisting(folder);
  if ([folder, there].some((each) => /^\/(proc|dev|sys)(\/|$)/.test(each)))
    return 'it leads into the system’s own folders';
  const top = findRepositoryRoot(near);
  const project = top === undefined || isWithin(home, top) ? near : top;
  if (isWithin(there, project)) return 'it leads into the project that the file belongs to';
  return isWritableByOthers(there) ? 'it leads into a folder where others can write' : undefined;
}

/** The real place of a folder, or of the nearest one above it that is there. */
function findNearestExisting(folder: string): string {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    try {
      return realpathSync.native(at);
    } catch {
      if (path.dirname(at) === at) return at;
    }
  }
}

/** Whether one folder is the other or lies in it: told by what they are, since one folder has many names. */
function isWithin(folder: string, outer: string): boolean {
  const wanted = statOrUndefined(outer);
  const isIt = (at: string): boolean => {
    const here = statOrUndefined(at);
    return here !== undefined && here.dev === wanted?.dev && here.ino === wanted.ino;
  };
  return ancestorDirs(findNearestExisting(folder)).some(isIt);
}

function isWritableByOthers(folder: string): boolean {
  const me = process.getuid?.();
  const found = statOrUndefined(folder);
  if (me === undefined || !found) return false;
  return (found.mode & 0o002) !== 0 || (me !== 0 && found.uid !== me && found.uid !== 0);
}

function statOrUndefined(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
