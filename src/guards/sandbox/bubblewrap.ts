// The bubblewrap sandbox: Linux namespaces around one command, without a daemon and without privileges. No network, no home folder, read-only system.
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine, isPathInside } from '../../core/index.ts';
import { startEgressProxy, type EgressProxy } from './egress.ts';
import { seccompFilterFile } from './seccomp.ts';
import { argvAfterSetup, splitAccess, type SandboxAccess, type SandboxPaths, type Sandbox } from './sandbox.ts';
import {
  expectedMounts,
  findHiddenPaths,
  findInnerMounts,
  systemFolders,
  systemLinkTarget,
  toolFolders,
  visibleFolders,
  type InnerMounts,
} from './mounts.ts';
import { mountCheckScript } from './mount-check.ts';
import { findReachableSockets, listReachableSockets } from './reachable-sockets.ts';
import { systemSecretPaths, type CoveredPath } from './system-secrets.ts';

/** Creates a sandbox that uses this bubblewrap program. */
export function bubblewrapSandbox(program: string, paths: SandboxPaths, extras: ExtraOptions = []): Sandbox {
  const { egress } = paths;
  let proxyStart: Promise<EgressProxy> | undefined;
  return {
    name: 'bubblewrap',
    description: `Commands reach the working folder and a read-only system, and ${egress ? egress.hosts.join(', ') : 'no network'}; nothing else of yours.`,
    async exec(command, given, outside) {
      const { access, options } = splitAccess(given);
      const isOnline = access.access !== 'read' && access.network !== false;
      const proxy = isOnline && egress ? await (proxyStart ??= startEgressProxy(egress)) : undefined;
      const found = findReachableSockets(paths, visibleInside(paths, access));
      const inner = findInnerMounts(paths, access, found instanceof Promise ? await found : found);
      const sandboxArgs = [
        ...withSeccompFilter(program),
        ...extras,
        ...bubblewrapArgs(paths, access, inner, proxy),
        '--chdir',
        options.cwd,
        '--',
      ];
      const argv = withLimits(command, mountCheck(paths, access, inner), proxy);
      return outside([...sandboxArgs, ...argv], { ...options, isWrapper: true });
    },
    findHidden: () => findHiddenPaths(paths),
    confine(argv, cwd) {
      const [first, ...rest] = withSeccompFilter(program);
      const access = { access: 'read' } as const;
      const inner = findInnerMounts(paths, access, listReachableSockets(paths, visibleInside(paths, access)));
      return [
        first,
        ...rest,
        ...extras,
        ...bubblewrapArgs(paths, access, inner),
        '--chdir',
        cwd,
        '--',
        ...withLimits(argv, mountCheck(paths, access, inner)),
      ];
    },
  };
}

/** Finds a program of the sandbox: the first on PATH that a command could not have created by writing into a root. */
export function findTrustedProgram(
  name: string,
  { roots, path: search }: Pick<SandboxPaths, 'roots' | 'path'>,
): string | undefined {
  for (const folder of search.split(path.delimiter)) {
    const program = path.join(folder, name);
    if (!path.isAbsolute(folder) || !existsSync(program)) continue;
    const real = realpathSync(program);
    if (isExecutable(real) && !roots.some((root) => isPathInside(root, program) || isPathInside(root, real)))
      return program;
  }
  return undefined;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Returns the folders of this machine that a command sees. */
const visibleInside = (paths: SandboxPaths, access: SandboxAccess): readonly string[] => [
  ...visibleFolders(paths, access),
  ...systemFolders(),
  ...toolFolders(paths),
];

/** Options that not every version supports. */
type ExtraOptions = readonly string[];

/** Options of bubblewrap 0.8 and later: no user namespaces inside, which would expose more of the kernel. */
export const newerOptions: ExtraOptions = ['--disable-userns'];

/** Returns why this bubblewrap cannot be used here; undefined if it can. */
export function bubblewrapUnavailableReason(
  program: string,
  paths: SandboxPaths,
  extras: ExtraOptions = [],
): Promise<string | undefined> {
  const [first, ...rest] = withSeccompFilter(program);
  const access = { access: 'write' } as const;
  const inner = findInnerMounts(paths, access);
  const args = [
    ...rest,
    ...extras,
    ...bubblewrapArgs(paths, access, inner),
    '--',
    ...withLimits(['/bin/sh', '-c', 'exit 0'], mountCheck(paths, access, inner)),
  ];
  return new Promise((resolve) => {
    execFile(first, args, { timeout: 10_000, env: {} }, (error, _out, stderr) => {
      resolve(error ? escapeInvisibleLine((stderr || error.message).trim()) : undefined);
    });
  });
}

/** Adds the seccomp filter, which bubblewrap reads from an open file. */
function withSeccompFilter(program: string): readonly [string, ...string[]] {
  const filter = seccompFilterFile();
  return filter === undefined ? [program] : ['/bin/sh', '-c', 'exec "$@" 9<"$0"', filter, program, '--seccomp', '9'];
}

/** Variables that point to hidden paths or change how programs run. */
const droppedVariables = [
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'XDG_RUNTIME_DIR',
  'LD_PRELOAD',
  'BASH_ENV',
  'ENV',
];

const proxyFolder = '/run/fairlead';
const proxyPort = 3128;
const proxyUrl = `http://127.0.0.1:${proxyPort}`;
const proxyVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY', 'all_proxy'];

/** Kernel settings that root could change by writing to a file: inside the sandbox it is the same root, even with fewer capabilities. */
const kernelFolders = ['sys', 'sysrq-trigger', 'irq', 'bus', 'acpi', 'scsi', 'fs', 'mtrr'].map(
  (name) => `/proc/${name}`,
);

/** Root is another user inside: programs do not try what only root may do. Outside it is still the owner of its files, so private files of the system are covered. */
const unprivilegedUser = ['--uid', '65534', '--gid', '65534'];

/** The index of a repository records the user id of files. It differs inside, and git would read every file again. */
const gitSettings = [
  ['GIT_CONFIG_COUNT', '1'],
  ['GIT_CONFIG_KEY_0', 'core.checkStat'],
  ['GIT_CONFIG_VALUE_0', 'minimal'],
] as const;

const cover = ({ at, file }: CoveredPath): readonly string[] =>
  file ? ['--ro-bind', '/dev/null', at] : ['--tmpfs', at, '--remount-ro', at];

/** Returns all arguments except the command. Later mounts cover earlier ones, so the order matters. */
function bubblewrapArgs(
  paths: SandboxPaths,
  access: SandboxAccess,
  inner: InnerMounts,
  proxy?: EgressProxy,
): readonly string[] {
  const { roots, home } = paths;
  const isRoot = process.getuid?.() === 0;
  const readOnly = (each: string): readonly string[] => ['--ro-bind', each, each];
  return [
    ['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    isRoot ? unprivilegedUser : [],
    ['--hostname', 'sandbox', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    kernelFolders.flatMap((each) => ['--ro-bind-try', each, each]),
    systemFolders().flatMap((each) => {
      const target = systemLinkTarget(each);
      return target === undefined ? readOnly(each) : ['--symlink', target, each];
    }),
    systemSecretPaths(paths.path).flatMap(cover),
    ['--tmpfs', home, '--chmod', '0700', home],
    // A folder that was removed meanwhile is left out.
    toolFolders(paths).flatMap((each) => ['--ro-bind-try', each, each]),
    (access.readable ?? []).flatMap(readOnly),
    roots.flatMap((root) => [access.access === 'read' ? '--ro-bind' : '--bind', root, root]),
    inner.protected.flatMap(({ mountPoint, bindOption }) => [bindOption, mountPoint, mountPoint]),
    inner.hidden.flatMap(cover),
    proxy ? ['--ro-bind', proxy.folder, proxyFolder] : [],
    // Otherwise files written outside the roots would be lost silently.
    ['--remount-ro', '/'],
    droppedVariables.flatMap((name) => ['--unsetenv', name]),
    ['--setenv', 'HOME', home, '--setenv', 'TMPDIR', '/tmp'],
    isRoot ? gitSettings.flatMap(([name, value]) => ['--setenv', name, value]) : [],
    proxy ? proxyVariables.flatMap((name) => ['--setenv', name, proxyUrl]) : [],
    proxy ? ['--setenv', 'NO_PROXY', 'localhost,127.0.0.1', '--setenv', 'NODE_USE_ENV_PROXY', '1'] : [],
  ].flat();
}

/** The limits of one command: processes, open files, file size and memory. If memory runs out, the kernel kills the command first. */
const resourceLimits = [
  'echo 1000 >/proc/self/oom_score_adj',
  'ulimit -c 0',
  // Shells differ in the name of this option.
  'ulimit -u 2048 || ulimit -p 2048',
  'ulimit -n 4096',
  'ulimit -f 16777216',
  'ulimit -d 8388608',
];

/** Programs in the sandbox use a proxy port: socat forwards it to the proxy socket, and must listen before the command starts. */
function proxyRelayCommand({ socket }: EgressProxy): string {
  const socketPath = `${proxyFolder}/${path.basename(socket)}`;
  const listen = `socat TCP-LISTEN:${proxyPort},bind=127.0.0.1,reuseaddr,fork UNIX-CONNECT:${socketPath} >/dev/null 2>&1 &`;
  return `${listen} until socat -u OPEN:/dev/null TCP:127.0.0.1:${proxyPort} 2>/dev/null; do sleep 0.01; done;`;
}

const withLimits = (
  command: string | readonly string[],
  checkScript: string,
  proxy?: EgressProxy,
): readonly string[] => {
  const limits = `{ ${resourceLimits.join('; ')}; } 2>/dev/null;`;
  return argvAfterSetup(`${checkScript} ${limits} ${proxy ? proxyRelayCommand(proxy) : ''}`, command);
};

/** The check takes some milliseconds, so it is left out if no other command could have replaced a mount. */
const mountCheck = (paths: SandboxPaths, access: SandboxAccess, inner: InnerMounts): string =>
  access.isAlone && !inner.isReplaceable ? '' : mountCheckScript(expectedMounts(paths, access, inner));
