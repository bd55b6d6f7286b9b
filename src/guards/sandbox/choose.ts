// Chooses the sandbox for commands: the best one that works here, tested once for each set of folders. If none works, commands are refused.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { bubblewrapSandbox, findTrustedProgram, newerOptions, bubblewrapUnavailableReason } from './bubblewrap.ts';
import { bindMountContainerSandbox } from './container.ts';
import { seatbeltSandbox, seatbeltUnavailableReason } from './seatbelt.ts';
import { noSandbox, unavailableSandbox, type SandboxPaths, type Sandbox } from './sandbox.ts';
import { withQuarantine } from './quarantine.ts';

/** Which sandbox to use: the best one, a named one, or none. */
export type SandboxMode = 'auto' | 'bubblewrap' | 'container' | 'none';

/** Options of chooseSandbox. */
export type SandboxOptions = SandboxPaths & {
  /** `auto` is the best sandbox that works; `none` must be an explicit choice of the user. */
  readonly mode?: SandboxMode;
  /** A container to use if there is no lighter sandbox and its image is installed. */
  readonly container?: { readonly engine: string; readonly image: string };
};

const sandboxCache = new Map<string, Promise<Sandbox>>();

/** Chooses a sandbox. It never falls back to none: without a working sandbox, every command is refused with the reason. */
export function chooseSandbox({ mode = 'auto', ...paths }: SandboxOptions): Promise<Sandbox> {
  if (mode === 'none') return Promise.resolve(noSandbox);
  const key = JSON.stringify([mode, paths]);
  const sandbox = sandboxCache.get(key) ?? chooseBest(mode, paths);
  sandboxCache.set(key, sandbox);
  return sandbox;
}

async function chooseBest(
  mode: Exclude<SandboxMode, 'none'>,
  { container, ...paths }: Omit<SandboxOptions, 'mode'>,
): Promise<Sandbox> {
  if (paths.roots.includes('/'))
    return unavailableWithHint(
      'the working folder is the root of the disk, which no sandbox can confine',
      'Start in another folder',
    );
  const native = mode === 'container' ? noContainer : await chooseNative(paths, mode);
  // A container cannot reach the allowed hosts and contains another system, so it is used only if no native sandbox works.
  if (native.name !== 'refused' || !container || mode === 'bubblewrap') return native;
  const engine = path.isAbsolute(container.engine) ? container.engine : findTrustedProgram(container.engine, paths);
  if (engine === undefined || !(await hasImage(engine, container.image))) return native;
  return withQuarantine(bindMountContainerSandbox({ ...container, engine }, paths), paths);
}

async function chooseNative(paths: SandboxPaths, mode: 'auto' | 'bubblewrap'): Promise<Sandbox> {
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
