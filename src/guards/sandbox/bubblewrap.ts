// Bubblewrap: namespaces of the Linux kernel around one command, without a daemon and without rights. No network, no home folder, a read-only system.
import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { visibleLine } from '../../core/index.ts';
import { shellWords, type Confines, type Sandbox } from './sandbox.ts';
import { hiddenIn, readOnlyIn, systemFolders, systemSecrets, toolFolders, within } from './visible-folders.ts';

/** Confines commands by this bubblewrap program. */
export const bubblewrap = (program: string, confines: Confines, extras: Extras = []): Sandbox => ({
  name: 'bubblewrap',
  about: 'Commands reach the working folder and a read-only system: no network, nothing else of yours.',
  exec: async (command, options, outside) =>
    outside([program, ...extras, ...confinement(confines), '--chdir', options.cwd, '--', ...limited(command)], options),
});

/** The bubblewrap to use: the first on the search path that nobody could have put there by writing into a root. */
export function findBubblewrap({ roots, path: search }: Pick<Confines, 'roots' | 'path'>): string | undefined {
  for (const folder of search.split(path.delimiter)) {
    const program = path.join(folder, 'bwrap');
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
  const args = [...extras, ...confinement(confines), '--', ...limited(['/bin/sh', '-c', 'exit 0'])];
  return new Promise((resolve) => {
    execFile(program, args, { timeout: 10_000, env: {} }, (error, _out, said) => {
      resolve(error ? visibleLine((said || error.message).trim()) : undefined);
    });
  });
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

/** What root could set for the whole machine by writing to a file: inside it is the same root, however few rights it has. */
const kernelFolders = ['sys', 'sysrq-trigger', 'irq', 'bus', 'acpi', 'scsi', 'fs', 'mtrr'].map(
  (name) => `/proc/${name}`,
);

/** Everything but the command: later mounts cover earlier ones, so the order is the meaning. */
function confinement(confines: Confines): readonly string[] {
  const { roots, home } = confines;
  const readOnly = (each: string): readonly string[] => ['--ro-bind', each, each];
  return [
    ['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ['--hostname', 'sandbox', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    kernelFolders.flatMap((each) => ['--ro-bind-try', each, each]),
    systemFolders().flatMap(readOnly),
    systemSecrets().flatMap((file) => ['--ro-bind', '/dev/null', file]),
    ['--tmpfs', home, '--chmod', '0700', home],
    toolFolders(confines).flatMap(readOnly),
    roots.flatMap((root) => ['--bind', root, root]),
    roots.flatMap((root) => readOnlyIn(root, home)).flatMap(({ at, how }) => [how, at, at]),
    hiddenIn(confines).flatMap(({ at, file }) =>
      file ? ['--ro-bind', '/dev/null', at] : ['--tmpfs', at, '--remount-ro', at],
    ),
    // What is written beside the roots would be gone without a word.
    ['--remount-ro', '/'],
    dropped.flatMap((name) => ['--unsetenv', name]),
    ['--setenv', 'HOME', home, '--setenv', 'TMPDIR', '/tmp'],
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

const limited = (command: string | readonly string[]): readonly string[] => [
  '/bin/sh',
  '-c',
  `{ ${limits.join('; ')}; } 2>/dev/null; exec "$@"`,
  'sh',
  ...shellWords(command),
];
