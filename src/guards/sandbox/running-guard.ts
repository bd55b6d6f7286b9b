// Ends running commands when their mounts no longer protect the working folder: a mounted file was replaced on the host, or a program opened a socket.
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine, isPathInside, type ExecResult } from '../../core/index.ts';
import { createMountedFiles, type MountedFile } from './mounted-files.ts';
import { createSocketCheck, recordCovered, type CoveredPaths } from './new-sockets.ts';
import { settleReplaced } from './replaced-files.ts';
import { createRunningWatch } from './running-watch.ts';
import type { MountedPaths, SandboxPaths } from './sandbox.ts';

/** Options of createRunningGuard. */
type RunningGuardOptions = {
  readonly paths: SandboxPaths;
  /** Tells the user something. */
  readonly addNotice: (text: string) => void;
  /** Called every second while commands run. */
  readonly onSecond: () => void;
};

/** Guards the running commands of one sandbox. */
export type RunningGuard = {
  /** Adds a command that starts. */
  enter(): GuardedCommand;
  /** Returns true if a running command has a mount on this path. */
  isMounted(location: string): boolean;
  /** Returns true if commands were stopped and have not ended. */
  isStopping(): boolean;
  /** Waits until no command runs, for a limited time. */
  settled(): Promise<void>;
  /** Looks for replaced files at once. */
  check(): void;
};

/** A running command. */
export type GuardedCommand = {
  readonly killSignal: AbortSignal;
  /** Records its mounts, when they are made. */
  readonly onMounts: (mounts: MountedPaths) => void;
  /** Returns false if its new output may contain what is hidden from it. */
  readonly canShowOutput: () => boolean;
  /** Removes it after its end, and returns what adds to its result what happened. */
  leave(): (result: ExecResult) => ExecResult;
};

type RunningCommand = {
  readonly controller: AbortController;
  covered: CoveredPaths | undefined;
  /** Why it is stopped, as the end of a sentence. */
  stopReason?: string;
  /** True if its output may contain what was hidden. */
  isSecret?: boolean;
};

const socketSeconds = 2;
/** A process that was killed ends in this time, unless the kernel does not let it. */
const maxEndMs = 10_000;

/** Creates the guard of a sandbox. */
export function createRunningGuard({ paths, addNotice, onSecond }: RunningGuardOptions): RunningGuard {
  const commands = new Set<RunningCommand>();
  let mounted = createMountedFiles();
  /** What lost its mount since the first of the running commands began. */
  let lost: MountedFile[] = [];
  let waiting: (() => void)[] = [];
  let seconds = 0;

  const stop = (command: RunningCommand, reason: string): void => {
    command.stopReason ??= reason;
    command.controller.abort();
  };
  const settle = (): void => {
    for (const file of lost) {
      const notice = settleReplaced(file, paths);
      if (notice !== undefined) addNotice(notice);
    }
    // A restored file is another one than before, too.
    lost = [...new Set([...lost, ...mounted.takeReplaced()])];
  };
  const check = (): void => {
    const replaced = mounted.takeReplaced();
    if (replaced.length === 0) return;
    lost = [...new Set([...lost, ...replaced])];
    for (const command of commands) {
      if (replaced.some(({ role }) => role === 'hidden')) command.isSecret = true;
      stop(command, formatStopReason(replaced));
    }
    settle();
  };
  const checkSockets = (): void => {
    const findReason = createSocketCheck(paths);
    for (const command of commands) {
      const reason = command.covered && findReason(command.covered);
      if (reason === undefined || command.stopReason !== undefined) continue;
      addNotice(`A command was stopped: ${reason}`);
      stop(command, reason);
    }
  };
  const watch = createRunningWatch({
    // Elsewhere a sandbox denies paths, whatever is there.
    folders: () => (process.platform === 'linux' ? [...new Set([...paths.roots, ...mounted.folders()])] : []),
    onEntry(folder, name) {
      const location = name === undefined ? undefined : path.join(folder, name);
      if (location === undefined || mounted.has(location)) check();
      else if (isSocket(location)) checkSockets();
    },
    onSecond() {
      seconds += 1;
      check();
      if (seconds % socketSeconds === 1) checkSockets();
      onSecond();
    },
  });
  return {
    check,
    isMounted: (location) => mounted.has(location),
    isStopping: () => lost.length > 0 && commands.size > 0,
    settled: () =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, maxEndMs);
        waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
    enter() {
      const command: RunningCommand = { controller: new AbortController(), covered: undefined };
      commands.add(command);
      watch.begin();
      return {
        killSignal: command.controller.signal,
        onMounts(mounts) {
          mounted.add(mounts);
          command.covered = recordCovered(mounts);
          // Adds their folders.
          watch.begin();
        },
        canShowOutput() {
          if (mounted.hasHidden()) check();
          return !command.isSecret;
        },
        leave() {
          check();
          commands.delete(command);
          settle();
          const explain = (result: ExecResult): ExecResult => explainResult(result, command);
          if (commands.size > 0) return explain;
          watch.end();
          seconds = 0;
          mounted = createMountedFiles();
          lost = [];
          waiting.forEach((resume) => resume());
          waiting = [];
          return explain;
        },
      };
    },
  };
}

/** A command that ended by itself at the same moment keeps its result. */
function explainResult(result: ExecResult, { stopReason, isSecret }: RunningCommand): ExecResult {
  if (stopReason === undefined) return result;
  const { stopped, outputSize, ...rest } = result;
  const shown = isSecret ? { ...rest, text: secretOutput } : { ...rest, ...(outputSize && { outputSize }) };
  if (stopped === 'abort' && result.code === null)
    return { ...shown, stopReason: `The command was stopped: ${stopReason}` };
  const text = `${shown.text.trimEnd()}\n[While it ran, ${stopReason}]`.trimStart();
  return { ...shown, ...(stopped === 'timeout' && { stopped }), text };
}

const secretOutput = '[The output is not shown, because it may contain a file that the sandbox hides.]';

const maxNames = 3;

function formatStopReason(replaced: readonly MountedFile[]): string {
  const all = replaced.map(({ location }) => location);
  const outer = all.filter((at) => !all.some((other) => other !== at && isPathInside(other, at)));
  const names = outer.slice(0, maxNames).map((at) => escapeInvisibleLine(at));
  const more = outer.length > maxNames ? ` and ${outer.length - maxNames} more` : '';
  return `another program replaced ${names.join(', ')}${more}, which the sandbox could not protect any more. Run it again if it is still needed.`;
}

function isSocket(location: string): boolean {
  try {
    return lstatSync(location, { throwIfNoEntry: false })?.isSocket() === true;
  } catch {
    return false;
  }
}
