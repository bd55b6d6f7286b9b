// The directories of this program: state, data, config and cache, by the XDG rules or those of the platform.
import { homedir } from 'node:os';
import path from 'node:path';
import { FairleadError } from '../../core/index.ts';
import type { Environment } from '../../providers/index.ts';
import type { EnvFile } from './env-files.ts';
import type { Setting, SettingOrigin } from './settings.ts';

/** The directories of this program; each is created on first use, readable by its owner only. */
export type AppDirs = {
  /** What can be recreated: cached models, the last model, logs, the prompt history. */
  readonly state: string;
  /** What cannot be recreated: sessions, prompts, the trash. */
  readonly data: string;
  readonly config: string;
  readonly cache: string;
};

/** The default name of the program's directory. */
const defaultRootName = 'fairlead';

/** The directory name of the environment, or the default; throws if it is not the name of one directory. */
function getRootName(env: Environment, defaultName: string): string {
  const name = env['HARNESS_ROOT_DIRS_NAME']?.trim() || defaultName;
  const bad = name === '.' || name === '..' || hasBadCharacter(name) || Buffer.byteLength(name) > 200;
  if (!bad) return name;
  throw new FairleadError(
    'settings/bad-root-name',
    `HARNESS_ROOT_DIRS_NAME is not the name of a directory: ${JSON.stringify(name)}.`,
    { blame: 'user', hint: `Set it to a plain name such as "${defaultRootName}", or unset it.` },
  );
}

const hasBadCharacter = (name: string): boolean => /[/\\\p{Cc}]/u.test(name);

type AppDirName = keyof AppDirs;

/** The environment variable of each directory. */
export const appDirVariables: Readonly<Record<AppDirName, string>> = {
  state: 'XDG_STATE_HOME',
  data: 'XDG_DATA_HOME',
  config: 'XDG_CONFIG_HOME',
  cache: 'XDG_CACHE_HOME',
};

/**
 * The directories of an environment. A relative XDG path is invalid by the specification and ignored.
 * `rootName` is the default name of the state and data directories; all profiles share the config file and the cache.
 */
export function getAppDirs(
  env: Environment,
  home: string,
  platform: NodeJS.Platform = process.platform,
  rootName: string = defaultRootName,
): AppDirs {
  const at = (name: AppDirName): string => {
    const root = getRootName(env, name === 'state' || name === 'data' ? rootName : defaultRootName);
    const value = env[appDirVariables[name]];
    const base = value !== undefined && path.isAbsolute(value) ? value : getDefaultBaseDir(name, env, home, platform);
    return path.join(base, root);
  };
  return { state: at('state'), data: at('data'), config: at('config'), cache: at('cache') };
}

function getDefaultBaseDir(name: AppDirName, env: Environment, home: string, platform: NodeJS.Platform): string {
  if (platform === 'darwin') return path.join(home, 'Library', name === 'cache' ? 'Caches' : 'Application Support');
  if (platform === 'win32') {
    if (name === 'config') return env['APPDATA'] || path.join(home, 'AppData', 'Roaming');
    return env['LOCALAPPDATA'] || path.join(home, 'AppData', 'Local');
  }
  const folders = { state: '.local/state', data: '.local/share', config: '.config', cache: '.cache' } as const;
  return path.join(home, folders[name]);
}

/** The home directory of an environment. */
export const getHome = (env: Environment): string => env['HOME'] || homedir();

/** Removes variables that are empty: they count as unset. */
export const withoutEmptyVariables = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));

/** The directories of an environment and the user's own `.env` file. The file may choose state, data and cache, but not the config directory of the user. */
export function readAppDirs(
  env: Environment,
  envFile: EnvFile | undefined,
  platform: NodeJS.Platform,
  rootName?: string,
): AppDirs {
  const home = getHome(env);
  const merged = { ...envFile?.values, ...withoutEmptyVariables(env) };
  return { ...getAppDirs(merged, home, platform, rootName), config: getAppDirs(env, home, platform).config };
}

/** The directories as settings with their origin. */
export function toDirSettings(
  dirs: AppDirs,
  env: Environment,
  envFile: EnvFile | undefined,
): readonly [string, Setting][] {
  const findOrigin = (
    variable: string,
    isValid: (value: string) => boolean,
    allowFile: boolean,
  ): SettingOrigin | undefined => {
    if (isValid(env[variable] ?? '')) return { type: 'environment', name: variable };
    const isInFile = allowFile && envFile && isValid(envFile.values[variable] ?? '');
    return isInFile ? { type: 'env-file', name: variable, file: envFile.file } : undefined;
  };
  const isPath = (value: string): boolean => path.isAbsolute(value);
  const isName = (value: string): boolean => value.trim() !== '';
  return (['state', 'data', 'config', 'cache'] as const).map((name) => {
    const allowFile = name !== 'config';
    const origin =
      findOrigin(appDirVariables[name], isPath, allowFile) ?? findOrigin('HARNESS_ROOT_DIRS_NAME', isName, allowFile);
    return [`dirs.${name}`, { value: dirs[name], origin: origin ?? { type: 'default' } }];
  });
}
