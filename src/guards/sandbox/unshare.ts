// Starts commands with the programs of util-linux, which every Linux distribution has: unshare makes the namespaces, mount and pivot_root the new root, setpriv drops all privileges.
import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { isPathInside } from '../../core/index.ts';
import type { NamespaceLauncher } from './namespace-sandbox.ts';
import { systemFolders } from './mounts.ts';
import type { MountPlan } from './mount-plan.ts';
import type { Argv, SandboxPaths } from './sandbox.ts';
import { createScriptArguments } from './script-arguments.ts';
import { prctlNumber, seccompFilterFile } from './seccomp.ts';
import { findTrustedSystemProgram } from './trusted-program.ts';
import { formatMountSteps, newRoot, tableFd } from './unshare-mounts.ts';

const requiredNames = ['unshare', 'setpriv', 'setsid', 'mount', 'umount', 'pivot_root', 'mkdir', 'ln', 'cp'] as const;

/** The programs that the sandbox calls, by their path. */
export type UtilLinuxPrograms = Readonly<Record<(typeof requiredNames)[number], string>> & {
  /** Sets the name of the machine inside. */
  readonly hostname?: string;
  /** Turns on the loopback interface where the kernel's own folder for it is not available. */
  readonly ip?: string;
  /** Loads the filter of system calls where setpriv cannot. */
  readonly perl?: string;
};

/** Returns the programs, or the name of the first that is missing. */
export function findUtilLinuxPrograms(paths: SandboxPaths): UtilLinuxPrograms | string {
  const find = (name: string): string | undefined => findTrustedSystemProgram(name, paths);
  const required = requiredNames.map((name) => [name, find(name)] as const);
  const missing = required.find(([, program]) => program === undefined);
  if (missing) return missing[0];
  const optional = (['hostname', 'ip', 'perl'] as const).flatMap((name) => {
    const program = find(name);
    return program === undefined ? [] : [[name, program] as const];
  });
  return Object.fromEntries([...required, ...optional]) as UtilLinuxPrograms;
}

/** Returns the name of a program that is only a link to BusyBox; undefined if there is none. */
export const findBusyBoxProgram = (programs: UtilLinuxPrograms): string | undefined =>
  (['unshare', 'setpriv', 'mount', 'pivot_root'] as const).find(
    (name) => path.basename(realpathSync(programs[name])) === 'busybox',
  );

/** Returns the launcher that uses these programs. */
export function utilLinuxLauncher(programs: UtilLinuxPrograms): NamespaceLauncher {
  const loader = findFilterLoader(programs);
  return {
    name: 'util-linux',
    ...(loader === undefined && { limitation: noFilterLimitation }),
    wrap: (plan, cwd, argv) => wrapCommand(programs, loader, { plan, cwd, argv }),
  };
}

const noFilterLimitation =
  'System calls are not filtered (this needs bubblewrap, perl, or util-linux 2.41): kernel keyrings, sockets of a virtual machine host and set-user-id files are not prevented.';

/** How the filter of system calls is loaded. */
type FilterLoader = 'setpriv' | 'perl';

/** util-linux 2.41 loads a filter itself; before, perl makes the system call. Perl must be visible inside. */
function findFilterLoader({ setpriv, perl }: UtilLinuxPrograms): FilterLoader | undefined {
  if (prctlNumber(process.arch) === undefined) return undefined;
  try {
    const help = execFileSync(setpriv, ['--help'], { encoding: 'utf8', timeout: 5000, env: {}, stdio: 'pipe' });
    if (help.includes('--seccomp-filter')) return 'setpriv';
  } catch {
    // BusyBox has no such option, and fails; why the sandbox does not work is found out when it is tried.
  }
  return perl !== undefined && systemFolders().some((folder) => isPathInside(folder, perl)) ? 'perl' : undefined;
}

/** The file descriptor of the filter. */
const filterFd = 9;

/** Loads the filter that it reads, then starts the program. Perl passes a text to a system call as its address. */
const perlLoader = (prctl: number): string =>
  [
    `open(my $in, "<&=", ${filterFd}) or die "no filter: $!\\n"`,
    'binmode $in; local $/; my $filter = <$in>; close $in',
    'my $program = pack("S x6 P", length($filter) / 8, $filter)',
    `syscall(${prctl}, 22, 2, $program) == 0 or die "the filter of system calls was not loaded: $!\\n"`,
    'exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\\n"',
  ].join('; ');

type WrappedCommand = { readonly plan: MountPlan; readonly cwd: string; readonly argv: readonly string[] };

/** No privilege is left for the command, and none can be gained. */
const noPrivileges = ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all'];

function wrapCommand(
  programs: UtilLinuxPrograms,
  loader: FilterLoader | undefined,
  { plan, cwd, argv }: WrappedCommand,
): Argv {
  const { unshare, setpriv, setsid } = programs;
  const words = createScriptArguments();
  const filter = loader === undefined ? undefined : seccompFilterFile();
  const script = setupScript({ programs, plan, cwd, words, filter });
  const { uid, gid } = plan.user ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const filterOptions =
    filter !== undefined && loader === 'setpriv' ? ['--seccomp-filter', `/proc/self/fd/${filterFd}`] : [];
  const perl =
    filter !== undefined && loader === 'perl' && programs.perl !== undefined
      ? [programs.perl, '-e', perlLoader(prctlNumber(process.arch) ?? 0), '--']
      : [];
  // The mounts belong to the outer namespace, so that nothing inside can change them.
  const ownUser = [unshare, '-U', `--map-user=${uid}`, `--map-group=${gid}`, '--keep-caps', '--'];
  const unprivileged = [setpriv, ...noPrivileges, ...filterOptions, '--'];
  const inside = [...ownUser, ...unprivileged, ...perl, ...withInit(argv, filterOptions.length > 0)];
  // Ends with this process, as everything inside ends with it.
  const bound = [setpriv, '--pdeathsig', 'KILL', '--'] as const;
  // Two calls: the interfaces of a network belong to root inside only if the user is known when it is made.
  const asRoot = [unshare, '-U', '-r', '--'];
  const namespaces = [unshare, ...'-m -p -n -i -u -C --fork --kill-child=KILL --'.split(' ')];
  const start = `${script}\nexec ${words.addAll(inside)}`;
  return [...bound, ...asRoot, ...namespaces, setsid, '/bin/sh', '-c', start, 'sh', ...words.list()];
}

type SetupOptions = {
  readonly programs: UtilLinuxPrograms;
  readonly plan: MountPlan;
  readonly cwd: string;
  readonly words: ReturnType<typeof createScriptArguments>;
  readonly filter: string | undefined;
};

/** Returns the script that makes the new root. It has all capabilities in its own namespace, and calls programs of the machine only. */
function setupScript({ programs, plan, cwd, words, filter }: SetupOptions): string {
  const { mount, umount, pivot_root: pivotRoot, mkdir, ln, cp, hostname, ip } = programs;
  const [mountWord, umountWord] = [words.add(mount), words.add(umount)];
  const { steps, expected } = formatMountSteps(plan.operations, words, {
    mkdir: words.add(mkdir),
    ln: words.add(ln),
    cp: words.add(cp),
    mount: mountWord,
  });
  const otherHostname = hostname === undefined ? ':' : `${words.add(hostname)} sandbox || :`;
  const otherLoopback = ip === undefined ? ':' : `${words.add(ip)} link set lo up || :`;
  return [
    'set -e',
    `unset ${plan.unsetVariables.join(' ')}`,
    ...plan.variables.map(([name, value]) => `export ${name}=${words.add(value)}`),
    ...(filter === undefined ? [] : [`exec ${filterFd}<${words.add(filter)}`]),
    // One more namespace is made, for the command, and none inside.
    'echo 1 >/proc/sys/user/max_user_namespaces',
    `{ echo sandbox >/proc/sys/kernel/hostname || ${otherHostname}; } 2>/dev/null`,
    `{ { ${mountWord} -n -t sysfs sysfs /sys && echo 0x49 >/sys/class/net/lo/flags; } || ${otherLoopback}; } 2>/dev/null`,
    `${mountWord} -n -t tmpfs -o mode=755,nosuid,nodev tmpfs ${newRoot}`,
    ...steps,
    `exec ${tableFd}>&-`,
    `cd ${newRoot}`,
    `${words.add(pivotRoot)} . tmp`,
    `${umountWord} -n -l /tmp`,
    `${mountWord} -n -o remount,bind,ro,nosuid,nodev /`,
    mountListCheck(expected, words.add(`|${expected.join('|')}|`)),
    `cd -- ${words.add(cwd)}`,
  ].join('\n');
}

/** Returns code that ends the script unless every mount of the plan is listed with its flag, and everything else is read-only: no step may fail unnoticed. */
const mountListCheck = (expected: readonly string[], list: string): string =>
  [
    `e=${list}; n=0`,
    `while read -r _ _ _ _ m o _; do case "$o" in ro|ro,*) k="|ro $m|" ;; *) k="|rw $m|" ;; esac`,
    `case "$e" in *"$k"*) n=$((n + 1)) ;; *) case "$k" in "|rw "*) n=-99999 ;; esac ;; esac; done </proc/self/mountinfo`,
    `[ "$n" -eq ${expected.length} ] || { echo "The command was not started: a mount of the sandbox is missing or writable." >&2; exit 121; }`,
    'unset e n m o k _',
  ].join('\n');

/** Runs a script of the sandbox as a child of the first process inside, which ends when it ends; a process that is the first one ignores signals. */
function withInit(argv: readonly string[], closesFilter: boolean): readonly string[] {
  const [shell = '', option = '', script = '', ...rest] = argv;
  const close = closesFilter ? ` ${filterFd}<&-` : '';
  // A shell reports a child that a signal ended; the result says so already.
  return [shell, option, `exec 3>&2 2>/dev/null${close}\n(exec 2>&3 3>&-\n${script}\n)\nexit $?`, ...rest];
}
