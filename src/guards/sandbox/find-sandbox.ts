// Finds the best sandbox that works on this machine and tests it. If none works, commands are refused.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { bubblewrapLauncher, newerOptions } from './bubblewrap.ts';
import { bindMountContainerSandbox } from './container.ts';
import { launcherFailure, namespaceSandbox, type NamespaceLauncher } from './namespace-sandbox.ts';
import { findNamespaceObstacle, formatInstallCommand } from './namespace-obstacle.ts';
import { seatbeltSandbox, seatbeltUnavailableReason } from './seatbelt.ts';
import {
  unavailableSandbox,
  type MicrovmOptions,
  type Sandbox,
  type SandboxMode,
  type SandboxOptions,
  type SandboxPaths,
} from './sandbox.ts';
import { withQuarantine } from './quarantine.ts';
import { findTrustedProgram } from './trusted-program.ts';
import { findBusyBoxProgram, findUtilLinuxPrograms, utilLinuxLauncher } from './unshare.ts';

/** Returns the best sandbox that works here; if none works, one that refuses every command with the reason. */
export async function findSandbox(
  mode: Exclude<SandboxMode, 'none'>,
  { container, microvm, ...paths }: Omit<SandboxOptions, 'mode'>,
): Promise<Sandbox> {
  if (paths.roots.includes('/'))
    return unavailableWithHint(
      'the working folder is the root of the disk, which no sandbox can confine',
      'Start in another folder',
    );
  if (mode === 'microvm') return openMicrovm(paths, microvm);
  const native = mode === 'container' ? noContainer : await findNative(paths, mode);
  // A container cannot reach the allowed hosts and contains another system, so it is used only if no native sandbox works.
  if (native.name !== 'refused' || !container || mode === 'bubblewrap' || mode === 'util-linux') return native;
  const engine = path.isAbsolute(container.engine) ? container.engine : findTrustedProgram(container.engine, paths);
  if (engine === undefined || !(await hasImage(engine, container.image))) return native;
  return withQuarantine(bindMountContainerSandbox({ ...container, engine }, paths), paths);
}

/** Never another sandbox: the user asked for this one. */
async function openMicrovm(paths: SandboxPaths, options: MicrovmOptions | undefined): Promise<Sandbox> {
  const { findMicrovm } = await import('./microvm/find-microvm.ts');
  const parts = findMicrovm(paths, options);
  if ('why' in parts) return unavailableWithHint(`no microVM can be started: ${parts.why}`, parts.remedy);
  const inner = await openBubblewrap(paths, parts.isHardware ? ['/dev/kvm'] : []);
  if ('why' in inner) return explainFailures([inner], paths);
  const { microvmLauncher } = await import('./microvm/microvm-launcher.ts');
  return withQuarantine(namespaceSandbox(microvmLauncher(inner, parts), paths), paths);
}

type NativeMode = 'auto' | 'bubblewrap' | 'util-linux';

async function findNative(paths: SandboxPaths, mode: NativeMode): Promise<Sandbox> {
  if (process.platform === 'darwin' && mode === 'auto') {
    const why = seatbeltUnavailableReason(paths);
    if (why === undefined) return withQuarantine(seatbeltSandbox(paths), paths, { needsPlaceholders: false });
    return unavailableWithHint(why, 'Install podman or docker and pull the image of sandbox.image');
  }
  if (process.platform !== 'linux')
    return unavailableWithHint(
      'there is no sandbox on this machine',
      'Install podman or docker and pull the image of sandbox.image',
    );
  if (paths.egress && findTrustedProgram('socat', paths) === undefined)
    return unavailableWithHint(
      'commands may reach some hosts, but socat, which connects them, is missing',
      `Install socat (${formatInstallCommand('socat', paths.path)})`,
    );
  const failures: LauncherFailure[] = [];
  for (const [name, open] of launchers) {
    if (mode !== 'auto' && mode !== name) continue;
    const found = await open(paths);
    if (!('why' in found)) return withQuarantine(namespaceSandbox(found, paths), paths);
    failures.push(found);
  }
  return explainFailures(failures, paths);
}

/** Why a launcher cannot be used; `program` is absent if it is not installed. */
type LauncherFailure = { readonly why: string; readonly program?: string };

/** Opens a launcher, and starts a command with it: whether it works depends on the kernel and on the version of the programs. */
type OpenLauncher = (paths: SandboxPaths, devices?: readonly string[]) => Promise<NamespaceLauncher | LauncherFailure>;

const openBubblewrap: OpenLauncher = async (paths, devices = []) => {
  const program = findTrustedProgram('bwrap', paths);
  if (program === undefined) return { why: 'bubblewrap is not installed' };
  for (const options of [newerOptions, []]) {
    const launcher = bubblewrapLauncher(program, options, devices);
    const why = await launcherFailure(launcher, paths);
    if (why === undefined) return launcher;
    if (options.length === 0) return { why, program };
  }
  return { why: '', program };
};

const openUtilLinux: OpenLauncher = async (paths) => {
  const programs = findUtilLinuxPrograms(paths);
  if (typeof programs === 'string') return { why: `${programs} of util-linux is not installed` };
  const busyBox = findBusyBoxProgram(programs);
  if (busyBox !== undefined) return { why: `${busyBox} is that of BusyBox, which lacks options that a sandbox needs` };
  const launcher = utilLinuxLauncher(programs);
  const why = await launcherFailure(launcher, paths);
  return why === undefined ? launcher : { why, program: programs.unshare };
};

/** The best one first. */
const launchers = [
  ['bubblewrap', openBubblewrap],
  ['util-linux', openUtilLinux],
] as const;

/** Says why no launcher works, and what enables one: an obstacle of the kernel, the program that failed, or a program to install. */
function explainFailures(failures: readonly LauncherFailure[], paths: SandboxPaths): Sandbox {
  const failed = failures.find(({ program }) => program !== undefined);
  const install = `Install bubblewrap (${formatInstallCommand('bubblewrap', paths.path)})`;
  if (failed?.program === undefined) {
    // What is missing of util-linux is named only if something of it is there.
    const busyBox = failures.find(({ why }) => why.includes('BusyBox'));
    return unavailableWithHint(busyBox?.why ?? 'there is no sandbox on this machine', install);
  }
  const obstacle = findNamespaceObstacle(failed.why);
  if (obstacle) return unavailableWithHint(obstacle.why, obstacle.remedy);
  const remedy = failures.some(({ program }) => program === undefined)
    ? install
    : `Allow user namespaces to ${failed.program}`;
  return unavailableWithHint(`the sandbox does not work here (${failed.why})`, remedy);
}

/** Images are never pulled: an image that is not installed cannot be used. */
const hasImage = (engine: string, image: string): Promise<boolean> =>
  new Promise((resolve) => {
    execFile(engine, ['image', 'inspect', image], { timeout: 10_000 }, (error) => resolve(error === null));
  });

const unavailableWithHint = (why: string, remedy: string): Sandbox =>
  unavailableSandbox(`Commands are not run: ${why}.`, `${remedy}, or start with --no-sandbox to run them without one.`);

const noContainer: Sandbox = unavailableWithHint(
  'there is no container engine with the image of sandbox.image',
  'Install podman or docker and pull the image',
);
