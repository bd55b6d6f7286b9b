// Bubblewrap: namespaces of the Linux kernel around one command, without a daemon and without rights. No network, no home folder, a read-only system.
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine } from '../../core/index.ts';
import { openDoor, type Door } from './egress.ts';
import { filterFile } from './seccomp.ts';
import { shellWords, type Confines, type Sandbox } from './sandbox.ts';
import { hiddenIn, readOnlyIn, systemFolders, systemSecrets, toolFolders, within } from './visible-folders.ts';

/** Confines commands by this bubblewrap program. */
export function bubblewrap(program: string, confines: Confines, extras: Extras = []): Sandbox {
  const { egress } = confines;
  let opened: Promise<Door> | undefined;
  return {
    name: 'bubblewrap',
    about: `Commands reach the working folder and a read-only system, and ${egress ? egress.hosts.join(', ') : 'no network'}; nothing else of yours.`,
    async exec(command, options, outside) {
      const door = egress && (await (opened ??= openDoor(egress)));
      const way = [
        ...beginning(program),
        ...extras,
        ...confinement(confines, 'write', door),
        '--chdir',
        options.cwd,
        '--',
      ];
      return outside([...way, ...limited(command, door)], { ...options, isWrapper: true });
    },
    confine(argv, cwd) {
      const [first, ...rest] = beginning(program);
      return [first, ...rest, ...extras, ...confinement(confines, 'read'), '--chdir', cwd, '--', ...limited(argv)];
    },
  };
}

/** A program of the sandbox: the first on the search path that nobody could have put there by writing into a root. */
export function findProgram(
  name: string,
  { roots, path: search }: Pick<Confines, 'roots' | 'path'>,
): string | undefined {
  for (const folder of search.split(path.delimiter)) {
    const program = path.join(folder, name);
    if (!path.isAbsolute(folder) || !existsSync(program)) continue;
    const real = realpathSync(program);
    if (isProgram(real) && !roots.some((root) => within(root, program) || within(root, real))) return program;
  }
  return undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Options that not every version has. */
type Extras = readonly string[];

/** What bubblewrap 0.8 and later can do besides: no namespaces of users inside, from where the kernel is easier to attack. */
export const newer: Extras = ['--disable-userns'];

/** Why this bubblewrap cannot confine anything here, or nothing. */
export function whyUnable(program: string, confines: Confines, extras: Extras = []): Promise<string | undefined> {
  const [first, ...rest] = beginning(program);
  const args = [...rest, ...extras, ...confinement(confines, 'write'), '--', ...limited(['/bin/sh', '-c', 'exit 0'])];
  return new Promise((resolve) => {
    execFile(first, args, { timeout: 10_000, env: {} }, (error, _out, said) => {
      resolve(error ? escapeInvisibleLine((said || error.message).trim()) : undefined);
    });
  });
}

/** The program with the filter of system calls, which it takes from an open file. */
function beginning(program: string): readonly [string, ...string[]] {
  const filter = filterFile();
  return filter === undefined ? [program] : ['/bin/sh', '-c', 'exec "$@" 9<"$0"', filter, program, '--seccomp', '9'];
}

/** Variables that lead to what is hidden, or change what a program is. */
const dropped = [
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'XDG_RUNTIME_DIR',
  'LD_PRELOAD',
  'BASH_ENV',
  'ENV',
];

const doorFolder = '/run/fairlead';
const proxyPort = 3128;
const proxy = `http://127.0.0.1:${proxyPort}`;
const proxyVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY', 'all_proxy'];

/** What root could set for the whole machine by writing to a file: inside it is the same root, however few rights it has. */
const kernelFolders = ['sys', 'sysrq-trigger', 'irq', 'bus', 'acpi', 'scsi', 'fs', 'mtrr'].map(
  (name) => `/proc/${name}`,
);

/** Everything but the command: later mounts cover earlier ones, so the order is the meaning. */
function confinement(confines: Confines, may: 'read' | 'write', door?: Door): readonly string[] {
  const { roots, home } = confines;
  const held = may === 'read' ? [] : roots.flatMap((root) => readOnlyIn(root, home));
  const readOnly = (each: string): readonly string[] => ['--ro-bind', each, each];
  return [
    ['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ['--hostname', 'sandbox', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    kernelFolders.flatMap((each) => ['--ro-bind-try', each, each]),
    systemFolders().flatMap(readOnly),
    systemSecrets().flatMap((file) => ['--ro-bind', '/dev/null', file]),
    ['--tmpfs', home, '--chmod', '0700', home],
    toolFolders(confines).flatMap(readOnly),
    roots.flatMap((root) => [may === 'read' ? '--ro-bind' : '--bind', root, root]),
    held.flatMap(({ at, how }) => [how, at, at]),
    hiddenIn(confines).flatMap(({ at, file }) =>
      file ? ['--ro-bind', '/dev/null', at] : ['--tmpfs', at, '--remount-ro', at],
    ),
    door ? ['--ro-bind', door.folder, doorFolder] : [],
    // What is written beside the roots would be gone without a word.
    ['--remount-ro', '/'],
    dropped.flatMap((name) => ['--unsetenv', name]),
    ['--setenv', 'HOME', home, '--setenv', 'TMPDIR', '/tmp'],
    door ? proxyVariables.flatMap((name) => ['--setenv', name, proxy]) : [],
    door ? ['--setenv', 'NO_PROXY', 'localhost,127.0.0.1', '--setenv', 'NODE_USE_ENV_PROXY', '1'] : [],
  ].flat();
}

/** The limits of one command: processes, open files, bytes of a file and of memory; where memory ends it is the command that is ended, not its parents. */
const limits = [
  'echo 1000 >/proc/self/oom_score_adj',
  'ulimit -c 0',
  // One shell knows the first word, another the second.
  'ulimit -u 2048 || ulimit -p 2048',
  'ulimit -n 4096',
  'ulimit -f 16777216',
  'ulimit -d 8388608',
];

/** Inside, programs look for a proxy at a port: socat leads from there to the door, and must listen before the command starts. */
function relay({ socket }: Door): string {
  const door = `${doorFolder}/${path.basename(socket)}`;
  const listen = `socat TCP-LISTEN:${proxyPort},bind=127.0.0.1,reuseaddr,fork UNIX-CONNECT:${door} >/dev/null 2>&1 &`;
  return `${listen} until socat -u OPEN:/dev/null TCP:127.0.0.1:${proxyPort} 2>/dev/null; do sleep 0.01; done;`;
}

const limited = (command: string | readonly string[], door?: Door): readonly string[] => [
  '/bin/sh',
  '-c',
  `{ ${limits.join('; ')}; } 2>/dev/null; ${door ? relay(door) : ''} exec "$@"`,
  'sh',
  ...shellWords(command),
];
