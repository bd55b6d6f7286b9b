// A sandbox of Linux namespaces around one command, without a daemon and without privileges: no network, no home folder, a read-only system. A launcher carries it out: bubblewrap or util-linux.
import { execFile } from 'node:child_process';
import { escapeInvisibleLine } from '../../core/index.ts';
import { mountCheckOf, withCommandSetup } from './command-setup.ts';
import { startEgressProxy, type EgressProxy } from './egress.ts';
import { createMountPlan, type MountPlan } from './mount-plan.ts';
import { findHiddenPaths, findInnerMounts, systemFolders, toolFolders, visibleFolders } from './mounts.ts';
import { findReachableSockets, listReachableSockets } from './reachable-sockets.ts';
import { splitAccess, type Argv, type SandboxAccess, type SandboxPaths, type Sandbox } from './sandbox.ts';

/** A program, or several, that start a command in namespaces. */
export type NamespaceLauncher = {
  /** The name of the sandbox. */
  readonly name: 'bubblewrap' | 'util-linux' | 'microvm';
  /** What it does not restrict, as a sentence; absent if nothing is missing. */
  readonly limitation?: string;
  /** Returns the command line that starts a program inside, with these mounts, in this folder. */
  wrap(plan: MountPlan, cwd: string, argv: readonly string[]): Argv;
  /** Returns what runs inside for a command, after a check of the mounts; by default the command itself. A launcher with it cannot run long-running programs. */
  readonly setUp?: (
    command: string | readonly string[],
    check: string,
    cwd: string,
    user: MountPlan['user'],
  ) => readonly string[];
};

/** Creates a sandbox that starts its commands with this launcher. */
export function namespaceSandbox(launcher: NamespaceLauncher, paths: SandboxPaths): Sandbox {
  const { egress } = paths;
  let proxyStart: Promise<EgressProxy> | undefined;
  const reached = egress ? egress.hosts.join(', ') : 'no network';
  return {
    name: launcher.name,
    description: [
      `Commands reach the working folder and a read-only system, and ${reached}; nothing else of yours.`,
      ...(launcher.limitation === undefined ? [] : [launcher.limitation]),
    ].join(' '),
    ...(launcher.limitation !== undefined && { limitation: launcher.limitation }),
    async exec(command, given, outside) {
      const { access, options } = splitAccess(given);
      const isOnline = access.access !== 'read' && access.network !== false;
      const proxy = isOnline && egress ? await (proxyStart ??= startEgressProxy(egress)) : undefined;
      const found = findReachableSockets(paths, visibleInside(paths, access));
      const inner = findInnerMounts(paths, access, found instanceof Promise ? await found : found);
      const plan = createMountPlan(paths, access, inner, proxy);
      const check = mountCheckOf(paths, access, inner);
      const argv = launcher.setUp?.(command, check, options.cwd, plan.user) ?? withCommandSetup(command, check, proxy);
      return outside(launcher.wrap(plan, options.cwd, argv), { ...options, isWrapper: true });
    },
    findHidden: () => findHiddenPaths(paths),
    ...(launcher.setUp ? {} : { confine: confineWith(launcher, paths) }),
  };
}

/** Returns the command lines of long-running programs. */
const confineWith =
  (launcher: NamespaceLauncher, paths: SandboxPaths) =>
  (argv: Argv, cwd: string): Argv => {
    const access = { access: 'read' } as const;
    const inner = findInnerMounts(paths, access, listReachableSockets(paths, visibleInside(paths, access)));
    const confined = withCommandSetup(argv, mountCheckOf(paths, access, inner));
    return launcher.wrap(createMountPlan(paths, access, inner), cwd, confined);
  };

/** Returns the folders of this machine that a command sees. */
const visibleInside = (paths: SandboxPaths, access: SandboxAccess): readonly string[] => [
  ...visibleFolders(paths, access),
  ...systemFolders(),
  ...toolFolders(paths),
];

/** Returns why this launcher cannot be used here, in its own words; undefined if it can. */
export function launcherFailure(launcher: NamespaceLauncher, paths: SandboxPaths): Promise<string | undefined> {
  const access = { access: 'write' } as const;
  const inner = findInnerMounts(paths, access);
  const argv = withCommandSetup(['/bin/sh', '-c', 'exit 0'], mountCheckOf(paths, access, inner));
  const [program, ...args] = launcher.wrap(createMountPlan(paths, access, inner), paths.roots[0] ?? '/', argv);
  return new Promise((resolve) => {
    execFile(program, args, { timeout: 10_000, env: {} }, (error, _out, stderr) => {
      const [firstLine = ''] = (stderr || (error?.message ?? '')).trim().split('\n');
      resolve(error ? escapeInvisibleLine(firstLine) : undefined);
    });
  });
}
