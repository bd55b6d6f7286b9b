// Finds the best sandbox that works on this machine and tests it. If none works, commands are refused.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { bubblewrapSandbox, findTrustedProgram, newerOptions, bubblewrapUnavailableReason } from './bubblewrap.ts';
import { bindMountContainerSandbox } from './container.ts';
import { seatbeltSandbox, seatbeltUnavailableReason } from './seatbelt.ts';
import {
  unavailableSandbox,
  type Sandbox,
  type SandboxMode,
  type SandboxOptions,
  type SandboxPaths,
} from './sandbox.ts';
import { withQuarantine } from './quarantine.ts';

/** Returns the best sandbox that works here; if none works, one that refuses every command with the reason. */
export async function findSandbox(
  mode: Exclude<SandboxMode, 'none'>,
  { container, ...paths }: Omit<SandboxOptions, 'mode'>,
): Promise<Sandbox> {
  if (paths.roots.includes('/'))
    return unavailableWithHint(
      'the working folder is the root of the disk, which no sandbox can confine',
      'Start in another folder',
    );
  const native = mode === 'container' ? noContainer : await findNative(paths, mode);
  // A container cannot reach the allowed hosts and contains another system, so it is used only if no native sandbox works.
  if (native.name !== 'refused' || !container || mode === 'bubblewrap') return native;
  const engine = path.isAbsolute(container.engine) ? container.engine : findTrustedProgram(container.engine, paths);
  if (engine === undefined || !(await hasImage(engine, container.image))) return native;
  return withQuarantine(bindMountContainerSandbox({ ...container, engine }, paths), paths);
}

async function findNative(paths: SandboxPaths, mode: 'auto' | 'bubblewrap'): Promise<Sandbox> {
  if (process.platform === 'darwin' && mode === 'auto') {
    const why = seatbeltUnavailableReason(paths);
    if (why === undefined) return withQuarantine(seatbeltSandbox(paths), paths, { needsPlaceholders: false });
    return unavailableWithHint(why, 'Install podman or docker and pull the image of sandbox.image');
  }
  const program = process.platform === 'linux' ? findTrustedProgram('bwrap', paths) : undefined;
  if (program === undefined)
    return unavailableWithHint(
      'there is no sandbox on this machine',
      process.platform === 'linux'
        ? 'Install bubblewrap (apt-get install bubblewrap)'
        : 'Install podman or docker and pull the image of sandbox.image',
    );
  if (paths.egress && findTrustedProgram('socat', paths) === undefined)
    return unavailableWithHint(
      'commands may reach some hosts, but socat, which connects them, is missing',
      'Install socat (apt-get install socat)',
    );
  if ((await bubblewrapUnavailableReason(program, paths, newerOptions)) === undefined)
    return withQuarantine(bubblewrapSandbox(program, paths, newerOptions), paths);
  const why = await bubblewrapUnavailableReason(program, paths);
  if (why === undefined) return withQuarantine(bubblewrapSandbox(program, paths), paths);
  return unavailableWithHint(`the sandbox does not work here (${why})`, `Allow user namespaces to ${program}`);
}

/** Images are never pulled: an image that is not installed cannot be used. */
const hasImage = (engine: string, image: string): Promise<boolean> =>
  new Promise((resolve) => {
    execFile(engine, ['image', 'inspect', image], { timeout: 10_000 }, (error) => resolve(error === null));
  });

const unavailableWithHint = (why: string, remedy: string): Sandbox =>
  unavailableSandbox(`Commands are not run: ${why}. ${remedy}, or start with --no-sandbox to run them without one.`);

const noContainer: Sandbox = unavailableWithHint(
  'there is no container engine with the image of sandbox.image',
  'Install podman or docker and pull the image',
);
