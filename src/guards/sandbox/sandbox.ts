// A sandbox around the commands of a workspace: what runs inside reaches the roots and nothing else, and where there is no sandbox nothing runs.
import { FairleadError, type ExecOptions, type ExecResult, type Workspace } from '../../core/index.ts';
import type { EgressPolicy } from './egress.ts';

/** Starts a program of this machine, outside of any sandbox. */
export type HostExec = Workspace['exec'];

/** A way to run commands confined. */
export interface Sandbox {
  /** What the status line calls it; nothing is confined where it is `none`. */
  readonly name: string;
  /** What it holds back, or why nothing runs, in one sentence. */
  readonly description: string;
  /** Runs a command inside, in a folder whose real path is given. */
  exec(
    command: string | readonly string[],
    options: ExecOptions & { readonly cwd: string },
    outside: HostExec,
  ): Promise<ExecResult>;
  /** The words that start a program which stays and only reads, in a folder whose real path is given; absent where none can stay inside. */
  readonly confine?: (argv: Argv, cwd: string) => Argv;
}

/** A program and its arguments. */
export type Argv = readonly [string, ...string[]];

/** The folders a sandbox is made for. They come from a person, never from a model. */
export type SandboxPaths = {
  /** Where a command may write; real paths. */
  readonly roots: readonly string[];
  /** What it must not see even inside a root; real paths. */
  readonly hidden?: readonly string[];
  /** Where that goes which a command made and must not leave; beside its place unless given. */
  readonly quarantine?: string;
  /** The person's home folder, of which nothing is seen that is not in a root. */
  readonly home: string;
  /** The search path for programs; those of the home folder on it can be run. */
  readonly path: string;
  /** The hosts that commands may reach; none unless given. */
  readonly egress?: EgressPolicy;
};

/** The same workspace, with every command inside this sandbox. */
export const withSandbox = (workspace: Workspace, sandbox: Sandbox): Workspace => ({
  ...workspace,
  exec: async (command, options = {}) =>
    sandbox.exec(
      command,
      { ...options, cwd: workspace.locate(options.cwd ?? workspace.cwd) },
      workspace.exec.bind(workspace),
    ),
});

/** No sandbox at all, which only a person may choose. */
export const noSandbox: Sandbox = {
  name: 'none',
  description: 'Commands run as you, with everything that you can reach.',
  exec: async (command, options, outside) => outside(command, options),
  confine: (argv) => argv,
};

/** In place of a sandbox that is not there: runs nothing and says why. */
export const unavailableSandbox = (why: string): Sandbox => ({
  name: 'refused',
  description: why,
  exec: () => Promise.reject(new FairleadError('sandbox/absent', why, { blame: 'user' })),
});

const shellPaths = ['/bin/bash', '/usr/bin/bash', '/bin/sh'];

/** A command as words for a shell that is looked for inside; both its streams become one, in the order written. */
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
