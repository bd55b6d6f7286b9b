// Where the program keeps its files: four folders by the XDG rules, or what stands for them on this platform.
import path from 'node:path';
import { FairleadError } from '../../core/index.ts';
import type { Environment } from '../../providers/resolve.ts';

/** The folders of this program; each is made, readable by its owner only, when something is first put there. */
export type AppDirs = {
  /** What can be found out again: known models, the last model, logs, entries typed. */
  readonly state: string;
  /** What cannot: sessions, prompts, the trash. */
  readonly data: string;
  readonly config: string;
  readonly cache: string;
};

/** The name of the program's own folder inside each place, unless the person gives another. */
const defaultRootName = 'fairlead';

/** The folder name that the environment gives, or the usual one; anything that is no name of one directory is refused. */
function getRootName(env: Environment): string {
  const name = env['HARNESS_ROOT_DIRS_NAME']?.trim() || defaultRootName;
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

/** The variable that says where each place is. */
export const appDirVariables: Readonly<Record<AppDirName, string>> = {
  state: 'XDG_STATE_HOME',
  data: 'XDG_DATA_HOME',
  config: 'XDG_CONFIG_HOME',
  cache: 'XDG_CACHE_HOME',
};

/** The folders for this environment. A relative XDG path is invalid by its specification and counts as unset. */
export function getAppDirs(env: Environment, home: string, platform: NodeJS.Platform = process.platform): AppDirs {
  const root = getRootName(env);
  const at = (place: AppDirName): string => {
    const given = env[appDirVariables[place]];
    const base = given !== undefined && path.isAbsolute(given) ? given : getDefaultBaseDir(place, env, home, platform);
    return path.join(base, root);
  };
  return { state: at('state'), data: at('data'), config: at('config'), cache: at('cache') };
}

function getDefaultBaseDir(place: AppDirName, env: Environment, home: string, platform: NodeJS.Platform): string {
  if (platform === 'darwin') return path.join(home, 'Library', place === 'cache' ? 'Caches' : 'Application Support');
  if (platform === 'win32') {
    if (place === 'config') return env['APPDATA'] || path.join(home, 'AppData', 'Roaming');
    return env['LOCALAPPDATA'] || path.join(home, 'AppData', 'Local');
  }
  const folders = { state: '.local/state', data: '.local/share', config: '.config', cache: '.cache' } as const;
  return path.join(home, folders[place]);
}
