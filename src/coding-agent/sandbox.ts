// Selects the sandbox in which the commands of a model run, from the settings.
import { homedir } from 'node:os';
import {
  chooseSandbox,
  findMicrovm,
  type MicrovmObstacle,
  type MicrovmOptions,
  type MicrovmParts,
  type Sandbox,
  type SandboxMode,
  type SandboxPaths,
} from '../guards/index.ts';
import { isPublicAddress } from '../workspace/index.ts';
import { getProtectedPaths } from './protected-paths.ts';
import type { Settings } from './settings/index.ts';

/** Chooses the sandbox of commands in a directory, given by its real path. Only the user may choose `none`. */
export const selectSandbox = (settings: Settings, cwd: string, mode: SandboxMode = 'auto'): Promise<Sandbox> =>
  chooseSandbox({
    mode: mode === 'auto' ? ((settings.all.get('sandbox.kind')?.value ?? 'auto') as SandboxMode) : mode,
    roots: [cwd],
    hidden: getProtectedPaths(settings),
    quarantine: `${settings.dirs.state}/trash`,
    home: homedir(),
    path: process.env['PATH'] ?? '',
    container: settings.sandbox,
    microvm: readMicrovmOptions(settings),
    ...openEgress(settings),
  });

/** The settings of the sandbox `microvm`. */
function readMicrovmOptions({ all }: Pick<Settings, 'all'>): MicrovmOptions {
  const kernel = all.get('sandbox.kernel')?.value;
  return {
    ...(typeof kernel === 'string' ? { kernel } : {}),
    ...(all.get('sandbox.emulation')?.value === 'true' ? { emulation: true } : {}),
  };
}

/** Finds what the sandbox `microvm` needs in a directory, or the first obstacle. */
export const selectMicrovm = (settings: Settings, cwd: string): Promise<MicrovmParts | MicrovmObstacle> =>
  findMicrovm({ roots: [cwd], path: process.env['PATH'] ?? '', ...openEgress(settings) }, readMicrovmOptions(settings));

/** The hosts that commands may reach, if there are any. */
const openEgress = ({ openHosts: hosts }: Settings): Pick<SandboxPaths, 'egress'> =>
  hosts.length > 0 ? { egress: { hosts, isPublic: isPublicAddress } } : {};
