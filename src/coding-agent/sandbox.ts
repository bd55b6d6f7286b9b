// Selects the sandbox in which the commands of a model run, from the settings.
import { homedir } from 'node:os';
import { chooseSandbox, type Sandbox, type SandboxMode } from '../guards/index.ts';
import { isPublicAddress } from '../workspace/index.ts';
import { getProtectedPaths } from './protected-paths.ts';
import type { Settings } from './settings/index.ts';

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
