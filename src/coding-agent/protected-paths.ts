// What the model's commands run in, for a working folder and these settings: the same for a conversation and for the doctor that proves it.
import { homedir } from 'node:os';
import path from 'node:path';
import { chooseSandbox, type Sandbox, type SandboxMode } from '../guards/index.ts';
import { isPublicAddress } from '../workspace/index.ts';
import type { Settings } from './settings/index.ts';

/** What the program itself goes by, which is the person's: a model that works in a home folder must not change or see it. */
export const getProtectedPaths = (settings: Pick<Settings, 'dirs' | 'all'>): readonly string[] => {
  const { config, state, data, cache } = settings.dirs;
  return [config, state, data, cache, ...getStoreFiles(settings)];
};

/** The files of a fleet's store: a model that could write to them could answer its own questions, and let a stopped fleet go on. */
function getStoreFiles({ all }: Pick<Settings, 'all'>): readonly string[] {
  const place = String(all.get('store')?.value ?? '').replace(/^sqlite:(\/\/)?/, '');
  if (place === '' || /^[a-z]{2,}:\/\//i.test(place)) return [];
  return ['', '-wal', '-shm', '-live', '-live-wal', '-live-shm'].map((end) => `${path.resolve(place)}${end}`);
}

/** The files that hold logins: of MCP servers, and of APIs. */
export const getLoginFiles = ({ dirs }: Pick<Settings, 'dirs'>): { readonly mcp: string; readonly api: string } => ({
  mcp: `${dirs.state}/mcp-logins.json`,
  api: `${dirs.state}/api-logins.json`,
});

/** Files that nobody reads for a model, wherever it works: logins, and the token that opens the server, with which it could answer its own questions. */
export const getSealedFiles = (settings: Pick<Settings, 'dirs' | 'all'>): readonly string[] => [
  ...getStoreFiles(settings),
  ...Object.values(getLoginFiles(settings)),
  `${settings.dirs.state}/server-token`,
];

/** Chooses the sandbox of commands in a directory, given by its real path. Only the user may choose `none`. */
export const selectSandbox = (settings: Settings, cwd: string, mode: SandboxMode = 'auto'): Promise<Sandbox> =>
  chooseSandbox({
    mode,
    roots: [cwd],
    hidden: getProtectedPaths(settings),
    quarantine: `${settings.dirs.state}/trash`,
    home: homedir(),
    path: process.env['PATH'] ?? '',
    container: settings.sandbox,
    ...(settings.openHosts.length > 0 ? { egress: { hosts: settings.openHosts, isPublic: isPublicAddress } } : {}),
  });

/** A sandbox in the status line. */
export function formatSandbox({ name }: Pick<Sandbox, 'name'>): string {
  if (name === 'none') return 'NO SANDBOX';
  return name === 'refused' ? 'no commands' : name;
}
