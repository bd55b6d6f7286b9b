// The paths that a model may not read or change.
import path from 'node:path';
import type { Settings } from './settings/index.ts';

/** The files of this program: a model that works in the home directory must not see or change them. */
export const getProtectedPaths = (settings: Pick<Settings, 'dirs' | 'all'>): readonly string[] => {
  const { config, state, data, cache } = settings.dirs;
  return [config, state, data, cache, ...getStoreFiles(settings)];
};

/** The files of the fleet store: a model that can write them could approve its own calls, or resume a stopped fleet. */
function getStoreFiles({ all }: Pick<Settings, 'all'>): readonly string[] {
  const location = String(all.get('store')?.value ?? '').replace(/^sqlite:(\/\/)?/, '');
  if (location === '' || /^[a-z]{2,}:\/\//i.test(location)) return [];
  return ['', '-wal', '-shm', '-live', '-live-wal', '-live-shm'].map((suffix) => `${path.resolve(location)}${suffix}`);
}

/** The files with the logins of MCP servers and of APIs. */
export const getLoginFiles = ({ dirs }: Pick<Settings, 'dirs'>): { readonly mcp: string; readonly api: string } => ({
  mcp: `${dirs.state}/mcp-logins.json`,
  api: `${dirs.state}/api-logins.json`,
});

/** Files that a model may not read in any directory: logins, and the tokens of the servers, with which it could approve its own calls. */
export const getSealedFiles = (settings: Pick<Settings, 'dirs' | 'all'>): readonly string[] => [
  ...getStoreFiles(settings),
  ...Object.values(getLoginFiles(settings)),
  `${settings.dirs.state}/server-token`,
  `${settings.dirs.state}/mcp-token`,
];
