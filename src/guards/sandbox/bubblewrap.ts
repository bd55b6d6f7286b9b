// Starts commands with bubblewrap, a small program that makes namespaces and mounts for one command.
import type { MountOperation, MountPlan } from './mount-plan.ts';
import type { NamespaceLauncher } from './namespace-sandbox.ts';
import { seccompFilterFile } from './seccomp.ts';

/** Options that not every version supports. */
type ExtraOptions = readonly string[];

/** Options of bubblewrap 0.8 and later: no user namespaces inside, which would expose more of the kernel. */
export const newerOptions: ExtraOptions = ['--disable-userns'];

/** Returns the launcher that uses this bubblewrap program, with these devices of the machine inside. */
export const bubblewrapLauncher = (
  program: string,
  extras: ExtraOptions = [],
  devices: readonly string[] = [],
): NamespaceLauncher => ({
  name: 'bubblewrap',
  wrap(plan, cwd, argv) {
    const [first, ...rest] = withSeccompFilter(program);
    return [
      first,
      ...rest,
      ...extras,
      ...formatPlan(plan),
      ...devices.flatMap(shareDevice),
      '--chdir',
      cwd,
      '--',
      ...argv,
    ];
  },
});

const shareDevice = (device: string): readonly string[] => ['--dev-bind', device, device];

/** Adds the seccomp filter, which bubblewrap reads from an open file. */
function withSeccompFilter(program: string): readonly [string, ...string[]] {
  const filter = seccompFilterFile();
  return filter === undefined ? [program] : ['/bin/sh', '-c', 'exec "$@" 9<"$0"', filter, program, '--seccomp', '9'];
}

/** Returns all options except those of the command. */
function formatPlan({ operations, unsetVariables, variables, user }: MountPlan): readonly string[] {
  return [
    ['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    user ? ['--uid', String(user.uid), '--gid', String(user.gid)] : [],
    ['--hostname', 'sandbox'],
    operations.flatMap(formatOperation),
    // Otherwise files written outside the roots would be lost silently.
    ['--remount-ro', '/'],
    unsetVariables.flatMap((name) => ['--unsetenv', name]),
    variables.flatMap(([name, value]) => ['--setenv', name, value]),
  ].flat();
}

function formatOperation(operation: MountOperation): readonly string[] {
  const { at } = operation;
  switch (operation.kind) {
    case 'bind':
      return [`--${operation.isReadOnly ? 'ro-' : ''}bind${operation.isOptional ? '-try' : ''}`, operation.source, at];
    case 'empty':
      return [
        '--tmpfs',
        at,
        ...(operation.mode === 0o755 ? [] : ['--chmod', operation.mode.toString(8).padStart(4, '0'), at]),
        ...(operation.isReadOnly ? ['--remount-ro', at] : []),
      ];
    case 'link':
      return ['--symlink', operation.target, at];
    case 'processes':
      return ['--proc', at];
    case 'devices':
      return ['--dev', at];
  }
}
