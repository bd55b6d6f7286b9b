// The paths that a model may not read or change.
import path from 'node:path';
import { profiles, type Settings } from './settings/index.ts';

/** The files of this program: a model that works in the home directory must not see or change them. */
export const getProtectedPaths = (settings: Pick<Settings, 'dirs' | 'all'>): readonly string[] => {
  const { config, state, data, cache } = settings.dirs;
  return [config, ...withOtherProfiles(state), ...withOtherProfiles(data), cache, ...getStoreFiles(settings)];
};

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
