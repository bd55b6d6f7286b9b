// The paths that a model may not read or change.
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../core/index.ts';
import { profiles, type Settings } from './settings/index.ts';

/** The files of this program: a model that works in the home directory must not see or change them. An agent in a worktree may change the files of that worktree, given by a real path. */
export const getProtectedPaths = (settings: Pick<Settings, 'dirs' | 'all'>, worktree?: string): readonly string[] => {
  const { config, state, data, cache } = settings.dirs;
  const found = [config, ...withOtherProfiles(state), ...withOtherProfiles(data), cache, ...getStoreFiles(settings)];
  // The worktree is its only root, so nothing else of these directories can be reached from it.
  return worktree === undefined ? found : found.filter((each) => !isPathInside(resolve(each), worktree));
};

/** Returns the real path of a folder if it is in a worktree of the state directory; undefined otherwise. */
export function findOwnWorktree({ dirs }: Pick<Settings, 'dirs'>, cwd: string): string | undefined {
  const folder = resolve(path.join(dirs.state, 'worktrees'));
  const found = resolve(cwd);
  return found !== folder && isPathInside(folder, found) ? found : undefined;
}

const resolve = (location: string): string =>
  existsSync(location) ? realpathSync.native(location) : path.resolve(location);

/** A directory, and the directories beside it that the same program uses with another profile. */
const withOtherProfiles = (dir: string): readonly string[] => [
  ...new Set([dir, ...Object.values(profiles).map(({ rootName }) => path.join(path.dirname(dir), rootName))]),
];

/** The files of the fleet store: a model that can write them could approve its own calls, or resume a stopped fleet. */
function getStoreFiles({ all }: Pick<Settings, 'all'>): readonly string[] {
  const location = String(all.get('store')?.value ?? '').replace(/^sqlite:(\/\/)?/, '');
  if (location === '' || /^[a-z]{2,}:\/\//i.test(location)) return [];
  return ['', '-wal', '-shm', '-live', '-live-wal', '-live-shm'].map((suffix) => `${path.resolve(location)}${suffix}`);
}

/** The files with the logins of MCP servers and of APIs. */
export const getLoginFiles = ({ dirs }: { readonly dirs: Pick<Settings['dirs'], 'state'> }): LoginFiles => ({
  mcp: `${dirs.state}/mcp-logins.json`,
  api: `${dirs.state}/api-logins.json`,
});

type LoginFiles = { readonly mcp: string; readonly api: string };

/** Files that a model may not read in any directory: logins, and the tokens of the servers, with which it could approve its own calls. */
export const getSealedFiles = (settings: Pick<Settings, 'dirs' | 'all'>): readonly string[] => [
  ...getStoreFiles(settings),
  ...withOtherProfiles(settings.dirs.state).flatMap((state) => [
    ...Object.values(getLoginFiles({ dirs: { state } })),
    `${state}/server-token`,
    `${state}/mcp-token`,
  ]),
];
