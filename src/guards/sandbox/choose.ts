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
export function chooseSandbox({ mode = 'auto', ...confines }: SandboxOptions): Promise<Sandbox> {
  if (mode === 'none') return Promise.resolve(noSandbox);
  const key = JSON.stringify([mode, confines]);
  const known = sandboxCache.get(key) ?? chooseBest(mode, confines);
  sandboxCache.set(key, known);
  return known;
}

async function chooseBest(
  mode: Exclude<SandboxMode, 'none'>,
  { container, ...confines }: Omit<SandboxOptions, 'mode'>,
): Promise<Sandbox> {
  if (confines.roots.includes('/'))
    return unavailableWithHint(
      'the working folder is the root of the disk, which no sandbox can confine',
      'Start in another folder',
    );
  const light = mode === 'container' ? noContainer : await chooseNative(confines, mode);
  // A container cannot reach the allowed hosts and has another system inside, but it is better than nothing.
  if (light.name !== 'refused' || !container || mode === 'bubblewrap') return light;
  const engine = path.isAbsolute(container.engine) ? container.engine : findTrustedProgram(container.engine, confines);
  if (engine === undefined || !(await hasImage(engine, container.image))) return light;
  return withQuarantine(bindMountContainerSandbox({ ...container, engine }, confines), confines);
}

async function chooseNative(confines: SandboxPaths, mode: 'auto' | 'bubblewrap'): Promise<Sandbox> {
  if (process.platform === 'darwin' && mode === 'auto') {
    const why = seatbeltUnavailableReason(confines);
    if (why === undefined) return withQuarantine(seatbeltSandbox(confines), confines);
    return unavailableWithHint(why, 'Install podman or docker and pull the image of sandbox.image');
  }
  const program = process.platform === 'linux' ? findTrustedProgram('bwrap', confines) : undefined;
  if (program === undefined)
    return unavailableWithHint(
      'there is no sandbox on this machine',
      process.platform === 'linux'
        ? 'Install bubblewrap (apt-get install bubblewrap)'
        : 'Install podman or docker and pull the image of sandbox.image',
    );
  if (confines.egress && findTrustedProgram('socat', confines) === undefined)
    return unavailableWithHint(
      'they may reach hosts, but the program that connects them is missing',
      'Install socat (apt-get install socat)',
    );
  if ((await bubblewrapUnavailableReason(program, confines, newerOptions)) === undefined)
    return withQuarantine(bubblewrapSandbox(program, confines, newerOptions), confines);
  const why = await bubblewrapUnavailableReason(program, confines);
  if (why === undefined) return withQuarantine(bubblewrapSandbox(program, confines), confines);
  return unavailableWithHint(`the sandbox does not work here (${why})`, `Allow user namespaces to ${program}`);
}

/** Images are never pulled: an image that is not installed cannot be used. */
const hasImage = (engine: string, image: string): Promise<boolean> =>
  new Promise((resolve) => {
    execFile(engine, ['image', 'inspect', image], { timeout: 10_000 }, (error) => resolve(error === null));
  });

const unavailableWithHint = (why: string, mend: string): Sandbox =>
  unavailableSandbox(`Commands are not run: ${why}. ${mend}, or start with --no-sandbox to run them without one.`);

const noContainer: Sandbox = unavailableWithHint(
  'there is no container engine with the image of sandbox.image',
  'Install podman or docker and pull the image',
);
