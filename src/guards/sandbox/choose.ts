// Chooses the sandbox for commands once for each set of folders, and keeps the choice.
import type { ContainerOptions } from './container.ts';
import type { MicrovmObstacle, MicrovmParts } from './microvm/find-microvm.ts';
import {
  noSandbox,
  type MicrovmOptions,
  type Sandbox,
  type SandboxMode,
  type SandboxOptions,
  type SandboxPaths,
} from './sandbox.ts';

const sandboxCache = new Map<string, Promise<Sandbox>>();

/** Chooses a sandbox. It never falls back to none: without a working sandbox, every command is refused with the reason. */
export function chooseSandbox({ mode: given = 'auto', ...paths }: SandboxOptions): Promise<Sandbox> {
  if (given === 'none') return Promise.resolve(noSandbox);
  const mode = given === 'auto' ? modeOfEnvironment() : given;
  const key = JSON.stringify([mode, paths]);
  const sandbox = sandboxCache.get(key) ?? findSandbox(mode, paths);
  sandboxCache.set(key, sandbox);
  return sandbox;
}

const confiningModes = ['bubblewrap', 'util-linux', 'container', 'microvm'] as const;

/** The variable FAIRLEAD_SANDBOX names the sandbox to use instead of the best one. It cannot turn the sandbox off. */
const modeOfEnvironment = (): Exclude<SandboxMode, 'none'> =>
  confiningModes.find((each) => each === process.env['FAIRLEAD_SANDBOX']) ?? 'auto';

async function findSandbox(
  mode: Exclude<SandboxMode, 'none'>,
  options: Omit<SandboxOptions, 'mode'>,
): Promise<Sandbox> {
  // Loaded for the first command, because an answer without a command does not need it.
  return (await import('./find-sandbox.ts')).findSandbox(mode, options);
}

/** The same as containerSandbox, loaded for the first command. */
export function lazyContainerSandbox(options: ContainerOptions, untrustedRoots: readonly string[]): Sandbox {
  let loading: Promise<Sandbox> | undefined;
  const load = async (): Promise<Sandbox> => (await import('./container.ts')).containerSandbox(options, untrustedRoots);
  return {
    name: 'container',
    description: 'Commands run in a container and reach a volume: no network, no file of yours.',
    findRefusal: async (outside) => (await (loading ??= load())).findRefusal?.(outside),
    exec: async (command, given, outside) => (await (loading ??= load())).exec(command, given, outside),
  };
}

/** Finds what a virtual machine for commands needs on this machine, or the first obstacle. */
export const findMicrovm = async (
  paths: Pick<SandboxPaths, 'roots' | 'path' | 'egress'>,
  options?: MicrovmOptions,
): Promise<MicrovmParts | MicrovmObstacle> => (await import('./microvm/find-microvm.ts')).findMicrovm(paths, options);
