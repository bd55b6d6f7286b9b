// The sandbox interface around the commands of a workspace. Commands inside reach the roots only; without a sandbox no command runs.
import { FairleadError, type ExecOptions, type ExecResult, type Workspace } from '../../core/index.ts';
import type { EgressPolicy } from './egress.ts';

/** Runs a program on this machine, outside any sandbox. */
export type HostExec = Workspace['exec'];

/** Runs commands confined. */
export interface Sandbox {
  /** The name in the status line; `none` means that nothing is confined. */
  readonly name: string;
  /** What it restricts, or why no command runs, in one sentence. */
  readonly description: string;
  /** Runs a command inside, in a folder given by its real path. */
  exec(
    command: string | readonly string[],
    options: ExecOptions & { readonly cwd: string },
    outside: HostExec,
  ): Promise<ExecResult>;
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
  /** The folder for quarantined files; by default they stay next to their path. */
  readonly quarantine?: string;
  /** The home folder of the user. Only parts that are in a root are visible. */
  readonly home: string;
  /** PATH. Its folders in the home folder can be executed. */
  readonly path: string;
  /** The hosts that commands may reach; none by default. */
  readonly egress?: EgressPolicy;
};

/** Returns the workspace with every command inside this sandbox. */
export const withSandbox = (workspace: Workspace, sandbox: Sandbox): Workspace => ({
  ...workspace,
  exec: async (command, options = {}) =>
    sandbox.exec(
      command,
      { ...options, cwd: workspace.locate(options.cwd ?? workspace.cwd) },
      workspace.exec.bind(workspace),
    ),
});

/** No sandbox. Only the user may choose this. */
export const noSandbox: Sandbox = {
  name: 'none',
  description: 'Commands run as you, with everything that you can reach.',
  exec: async (command, options, outside) => outside(command, options),
  confine: (argv) => argv,
};

/** Used if no sandbox is available: refuses every command with the reason. */
export const unavailableSandbox = (why: string): Sandbox => ({
  name: 'refused',
  description: why,
  exec: () => Promise.reject(new FairleadError('sandbox/absent', why, { blame: 'user' })),
});

const shellPaths = ['/bin/bash', '/usr/bin/bash', '/bin/sh'];

/** Returns the arguments of a shell that is found inside. stderr goes to stdout, in the order written. */
export const shellArgv = (command: string | readonly string[]): readonly string[] =>
  typeof command === 'string'
    ? [
        '/bin/sh',
        '-c',
        `for s in ${shellPaths.join(' ')}; do [ -x $s ] && exec $s -c "$1"; done`,
        'sh',
        `exec 2>&1; ${command}`,
      ]
    : command;
