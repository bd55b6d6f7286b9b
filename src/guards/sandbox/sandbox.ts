// The sandbox interface around the commands of a workspace. Commands inside reach the roots only; without a sandbox no command runs.
import {
  FairleadError,
  escapeInvisibleLine,
  type ExecOptions,
  type ExecResult,
  type Workspace,
} from '../../core/index.ts';
import type { EgressPolicy } from './egress.ts';

/** Runs a program on this machine, outside any sandbox. */
export type HostExec = Workspace['exec'];

/** What a command inside a sandbox may do with the roots, and what it sees besides. */
export type SandboxAccess = {
  /** `read` makes the roots read-only and removes the network; default `write`. */
  readonly access?: 'read' | 'write';
  /** More files and folders that are readable, never writable; real paths. */
  readonly readable?: readonly string[];
  /** False removes the network that commands with write access may have. */
  readonly network?: false;
  /** More folders that are writable; real paths. */
  readonly writable?: readonly string[];
  /** Git directories outside the roots that are writable, except for the files that configure them; real paths. */
  readonly gitDirectories?: readonly string[];
  /** True makes the git directory of a root writable, except for the files that configure it; it is read-only otherwise. */
  readonly writesGit?: boolean;
  /** Files of the roots that this command may change although they are protected, because the user approved it; real paths. Files that configure git stay protected. */
  readonly unprotected?: readonly string[];
  /** True if no other command can replace what is mounted while the mounts of this one are made, so that they need no check. */
  readonly isAlone?: boolean;
  /** Identifies the commands that run at the same time. Those with the same access get the same mounts, which none of them can replace. */
  readonly group?: object;
  /** Called with the mounts of the command, before it starts. */
  readonly onMounts?: (mounts: MountedPaths) => void;
};

/** What is mounted for a command inside the folders that it can write; real paths. */
export type MountedPaths = {
  /** What it cannot change. */
  readonly protectedPaths: readonly string[];
  /** Folders above these, which it cannot move. */
  readonly folders: readonly string[];
  /** What it cannot see. */
  readonly hidden: readonly string[];
};

/** Runs commands confined. */
export interface Sandbox {
  /** The name in the status line; `none` means that nothing is confined. */
  readonly name: string;
  /** What it restricts, or why no command runs, in one sentence. */
  readonly description: string;
  /** What it does not restrict although the best sandbox would, in one sentence; absent if nothing is missing. */
  readonly limitation?: string;
  /** What enables commands, as a sentence, if none runs; the end of the description. */
  readonly remedy?: string;
  /** Runs a command inside, in a folder given by its real path. */
  exec(
    command: string | readonly string[],
    options: ExecOptions & SandboxAccess & { readonly cwd: string },
    outside: HostExec,
  ): Promise<ExecResult>;
  /** Returns why no command could start at this moment, in one sentence, before the user gets a question; undefined if nothing is known. */
  readonly findRefusal?: (outside: HostExec) => string | undefined | Promise<string | undefined>;
  /** Returns why commands are stopped at this moment, in one sentence; undefined if they run. */
  readonly stoppedReason?: () => string | undefined;
  /** Returns the files and folders of the roots that commands cannot see; real paths. */
  readonly findHidden?: () => readonly string[];
  /** Returns what the user has to know about files that were moved away since the last call. */
  readonly takeNotices?: () => readonly string[];
  /** Accepts a protected file that was written with the approval of the user while a command runs, as long as its content has this SHA-256; a real path. */
  readonly acceptFile?: (file: string, contentHash: string) => void;
  /** Returns true if a running command has a mount on this path, which is lost if another file takes its place; a real path. */
  readonly isMounted?: (location: string) => boolean;
  /** Returns the command line that starts a long-running read-only program, in a folder given by its real path; absent if the sandbox cannot do that. */
  readonly confine?: (argv: Argv, cwd: string) => Argv;
}

/** A program and its arguments. */
export type Argv = readonly [string, ...string[]];

/** The folders of a sandbox. They come from the user, never from a model. */
export type SandboxPaths = {
  /** Where a command may write; real paths. */
  readonly roots: readonly string[];
  /** What it must not see even inside a root; real paths. */
  readonly hidden?: readonly string[];
  /** The folder for quarantined files; by default they stay next to their path. Records of running commands are in the folder `running-commands` beside it. */
  readonly quarantine?: string;
  /** The home folder of the user. Only parts that are in a root are visible. */
  readonly home: string;
  /** PATH. Its folders in the home folder can be executed. */
  readonly path: string;
  /** The hosts that commands may reach; none by default. */
  readonly egress?: EgressPolicy;
};

/** Which sandbox to use: the best one, a named one, or none. */
export type SandboxMode = 'auto' | 'bubblewrap' | 'util-linux' | 'container' | 'microvm' | 'none';

/** Options of the sandbox `microvm`. */
export type MicrovmOptions = {
  /** The image of the kernel, as `vmlinuz-<version>`, whose modules are in `../lib/modules/<version>`; by default the newest of `/boot`. */
  readonly kernel?: string;
  /** True emulates the processor where there is no `/dev/kvm`: slow. */
  readonly emulation?: boolean;
};

/** Options of chooseSandbox. */
export type SandboxOptions = SandboxPaths & {
  /** `auto` is the best sandbox that works; `none` must be an explicit choice of the user. */
  readonly mode?: SandboxMode;
  /** A container to use if there is no lighter sandbox and its image is installed. */
  readonly container?: { readonly engine: string; readonly image: string };
  readonly microvm?: MicrovmOptions;
};

/** Options of withSandbox. */
export type WithSandboxOptions = Omit<SandboxAccess, 'readable' | 'gitDirectories'> & {
  /** Finds more files and folders that are readable, before each command. */
  readonly findReadable?: () => readonly string[] | Promise<readonly string[]>;
  /** Finds the git directories outside the roots that are writable, before each command. */
  readonly findGitDirectories?: () => readonly string[];
  /** Informs the user that commands are stopped; called once for each reason. */
  readonly notify?: (text: string) => void;
};

/** Returns the workspace with every command inside this sandbox. */
export const withSandbox = (
  workspace: Workspace,
  sandbox: Sandbox,
  { access = 'write', findReadable, findGitDirectories, notify, ...more }: WithSandboxOptions = {},
): Workspace => {
  let lastReason: string | undefined;
  const notifyIfStopped = (): void => {
    const reason = sandbox.stoppedReason?.();
    if (reason !== undefined && reason !== lastReason) notify?.(reason);
    lastReason = reason;
    sandbox.takeNotices?.().forEach((text) => notify?.(text));
  };
  // Decided when the path is resolved: resolving it here would pin it for the call.
  const replacing = sandbox.isMounted ? { isMounted: sandbox.isMounted } : {};
  return {
    ...workspace,
    isGitReadOnly: sandbox.name !== 'none' && access === 'write' && !more.writesGit,
    async write(file, content, options) {
      const change = await workspace.write(file, content, { ...options, ...replacing });
      if (change.after !== null) sandbox.acceptFile?.(change.path, change.after);
      return change;
    },
    ...(workspace.remove && {
      remove: async (file, options) => workspace.remove?.(file, { ...options, ...replacing }) as never,
    }),
    async restore(change, options) {
      await workspace.restore(change, { ...options, ...replacing });
      if (change.before !== null) sandbox.acceptFile?.(change.path, change.before);
    },
    async exec(command, options = {}) {
      const cwd = workspace.locate(options.cwd ?? workspace.cwd);
      const isConfined = sandbox.name !== 'none';
      const readable = isConfined ? ((await findReadable?.()) ?? []) : [];
      const gitDirectories = isConfined ? (findGitDirectories?.() ?? []) : [];
      const confinement = { ...more, access, readable, gitDirectories };
      try {
        return await sandbox.exec(command, { ...options, ...confinement, cwd }, workspace.exec.bind(workspace));
      } finally {
        notifyIfStopped();
      }
    },
  };
};

/** The error of a command that would remove a mount of a running one. */
export const mountedFileError = (file: string): FairleadError =>
  new FairleadError(
    'sandbox/busy',
    `${escapeInvisibleLine(file)} was left alone: a command that runs in this folder could write it if it were replaced. Stop the running commands (stop_command), then try again.`,
    { blame: 'model' },
  );

/** No sandbox. Only the user may choose this. */
export const noSandbox: Sandbox = {
  name: 'none',
  description: 'Commands run as you, with everything that you can reach.',
  exec: async (command, options, outside) => outside(command, splitAccess(options).options),
  confine: (argv) => argv,
};

/** Separates what a command may do in the sandbox from the options of its process. */
export function splitAccess<T extends SandboxAccess>(
  given: T,
): { readonly access: SandboxAccess; readonly options: Omit<T, keyof SandboxAccess> } {
  const {
    access,
    readable,
    network,
    writable,
    gitDirectories,
    writesGit,
    unprotected,
    isAlone,
    group,
    onMounts,
    ...options
  } = given;
  return {
    access: {
      ...(access && { access }),
      ...(readable && { readable }),
      ...(network === false && { network }),
      ...(writable && { writable }),
      ...(gitDirectories && { gitDirectories }),
      ...(writesGit && { writesGit }),
      ...(unprotected && { unprotected }),
      ...(isAlone && { isAlone }),
      ...(group && { group }),
      ...(onMounts && { onMounts }),
    },
    options,
  };
}

/** Used if no sandbox is available: refuses every command with the reason, and with what enables them; both are sentences. */
export const unavailableSandbox = (why: string, remedy?: string): Sandbox => {
  const description = remedy === undefined ? why : `${why} ${remedy}`;
  return {
    name: 'refused',
    description,
    ...(remedy !== undefined && { remedy }),
    findRefusal: () => description,
    exec: () => Promise.reject(new FairleadError('sandbox/absent', description, { blame: 'user' })),
  };
};

/** Replaces the process by the first shell that is found inside. */
const startShell = 'for s in /bin/bash /usr/bin/bash /bin/sh; do [ -x $s ] && exec $s -c "$1"; done';

/** Returns the arguments that run a command after a setup in the same process. stderr of a shell command goes to stdout, in the order written. */
export const argvAfterSetup = (setup: string, command: string | readonly string[]): readonly string[] =>
  typeof command === 'string'
    ? ['/bin/sh', '-c', `${setup} ${startShell}`, 'sh', `exec 2>&1; ${command}`]
    : ['/bin/sh', '-c', `${setup} exec "$@"`, 'sh', ...command];
