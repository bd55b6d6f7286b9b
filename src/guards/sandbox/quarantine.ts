// Quarantines auto-executed files that a sandboxed command creates where nothing existed before. They are moved away; if that fails, commands are stopped.
import path from 'node:path';
import { FairleadError, escapeInvisibleLine, isPathInside, type ExecResult } from '../../core/index.ts';
import { acceptFile } from './accepted-files.ts';
import {
  createBaseline,
  findCreated,
  revealFolders,
  wasCreated,
  withoutAccepted,
  withoutDuplicates,
  type Baseline,
  type UnprotectedPath,
} from './baseline.ts';
import { createCommandRecorder, startMs, takeInterrupted } from './command-records.ts';
import { hasUncheckedFolders, maxCheckedFolders, maxCheckedRepositories, withOneScan } from './git-directories.ts';
import { forgetExitSweep, sweepAtExit, type ExitSweep } from './exit-sweep.ts';
import { moveAside } from './move-aside.ts';
import { accessKey, isApproved, protectedPaths } from './mounts.ts';
import { lstatIfVisible } from './open-folder.ts';
import { holdPlaceholders, type HeldPlaceholders } from './placeholders.ts';
import { createRunningGuard } from './running-guard.ts';
import { mountedFileError, type SandboxAccess, type SandboxPaths, type Sandbox } from './sandbox.ts';

/** Options of withQuarantine. */
type QuarantineOptions = {
  /** True if the sandbox protects existing paths only, so that absent ones need a placeholder to mount over. */
  readonly needsPlaceholders: boolean;
};

const maxSweeps = 3;

/** Wraps a sandbox: its commands leave no such files behind, and no later command starts while one is left. */
export function withQuarantine(
  sandbox: Sandbox,
  paths: SandboxPaths,
  { needsPlaceholders }: QuarantineOptions = { needsPlaceholders: true },
): Sandbox {
  let baseline: Baseline | undefined;
  let running = 0;
  /** Paths that could not be moved away. */
  let remaining: readonly UnprotectedPath[] = [];
  let notices: string[] = [];
  /** Protected paths that running commands may change, with the approval of the user. */
  const approved: string[] = [];

  /** What the user has to know. */
  let userNotices: string[] = [];
  const records =
    paths.quarantine === undefined ? undefined : path.join(path.dirname(paths.quarantine), 'running-commands');
  const recorder = createCommandRecorder(records, paths.roots);
  /** Without records, only the own process is known. */
  const isShared = (): boolean => records !== undefined && recorder.others() !== 'none';
  /** What distinguishes the mounts of each running command. */
  const runningMounts: string[] = [];
  let lastStart = Number.NEGATIVE_INFINITY;
  const guard = createRunningGuard({
    paths,
    addNotice: (text) => userNotices.push(text),
    onSecond: () => recorder.renew(),
  });

  /** Moves away what was created since the baseline. A running command may create it again, so it is looked for again. Returns how many were found. */
  const sweep = (
    origin: string,
    since = baseline,
    isOurs: (found: UnprotectedPath) => boolean = () => true,
  ): number => {
    let created: readonly UnprotectedPath[] = [];
    let count = 0;
    revealFolders([...remaining, ...(since?.unprotected ?? [])]);
    for (let round = 0; round <= maxSweeps; round++) {
      const found = [...remaining, ...(since ? withOneScan(() => findCreated(since, paths.roots)) : [])];
      created = withoutDuplicates(found)
        .filter((each) => !approved.includes(each.location) && wasCreated(each))
        .flatMap(withoutAccepted)
        .filter(isOurs);
      if (created.length === 0 || round === maxSweeps) break;
      count += created.length;
      for (const each of created) {
        const { notice, userNotice } = quarantinePath(each, paths.quarantine, origin);
        notices.push(notice);
        if (userNotice !== undefined) userNotices.push(userNotice);
      }
    }
    remaining = withoutDuplicates(created);
    return count;
  };
  /** Sweeps after processes that ended during a command. What was created long after such a process exited is not from its command. */
  const sweepInterrupted = (): void => {
    for (const { baseline: since, endedBy } of takeInterrupted(records, paths.roots))
      sweep('a command of an earlier session', since, ({ location }) => changeTime(location) < endedBy);
  };
  sweepInterrupted();
  const stoppedReason = (): string | undefined => {
    remaining = remaining.filter(wasCreated);
    const [first] = remaining;
    return (
      first &&
      `Commands are stopped: a command created ${escapeInvisibleLine(first.location)}, which other programs run or load, and it could not be moved away. Check and remove it, then commands run again.`
    );
  };
  const assertNotStopped = (): void => {
    if (running > 0 || remaining.length > 0) sweep('a command');
    const reason = stoppedReason();
    if (reason === undefined) return;
    // The error replaces the notices about this file.
    notices = [];
    throw new FairleadError('sandbox/stopped', reason, { blame: 'user' });
  };
  const accept = (file: string, contentHash?: string): void => {
    for (const each of baseline?.unprotected ?? [])
      if (isPathInside(each.location, file)) each.accepted = acceptFile(each.accepted, file, contentHash);
  };
  const confined: Sandbox = {
    ...sandbox,
    stoppedReason,
    findRefusal: stoppedReason,
    acceptFile: accept,
    isMounted: (location) => guard.isMounted(location),
    takeNotices() {
      const taken = userNotices;
      userNotices = [];
      return [...new Set(taken)];
    },
    async exec(command, options, outside) {
      if (guard.isStopping()) await guard.settled();
      assertNotStopped();
      // A command that only reads cannot create a file, and has mounts that no running command can replace.
      if (options.access === 'read')
        return sandbox.exec(command, { ...options, isAlone: recorder.others() === 'none' }, outside);
      assertCountableFolders(paths.roots);
      const mountedFile = options.unprotected?.find((file) => guard.isMounted(file));
      if (mountedFile !== undefined) throw mountedFileError(mountedFile);
      const held = needsPlaceholders
        ? holdPlaceholders(paths.roots, { gitDirectories: options.gitDirectories, isShared })
        : noPlaceholders;
      if (baseline === undefined) {
        baseline = createBaseline(paths, held);
        recorder.begin(baseline);
      }
      const since = baseline;
      const exempt = options.unprotected?.length ? approvedPaths(paths, options) : [];
      approved.push(...exempt);
      const mounts = accessKey(options);
      const isUniform = runningMounts.every((each) => each === mounts);
      const others = recorder.others();
      const isAlone = isUniform && others === 'none';
      // Another process may have removed one before it could see the record of this command.
      held.restore();
      // A command that starts at the same moment has not verified that it is alone with this one.
      const isEarly = others === 'starting' || (running > 0 && !isUniform && performance.now() - lastStart < startMs);
      lastStart = performance.now();
      running += 1;
      runningMounts.push(mounts);
      const finish = (origin: string): void => {
        running -= 1;
        runningMounts.splice(runningMounts.indexOf(mounts), 1);
        options.unprotected?.forEach((file) => accept(file));
        for (const each of exempt) approved.splice(approved.indexOf(each), 1);
        sweep(origin);
        if (running === 0) {
          baseline = undefined;
          recorder.end();
        }
        held.release();
      };
      const exitSweep: ExitSweep = {
        sweep() {
          guard.check();
          return sweep('this command', since);
        },
        end: () => {
          held.release();
          recorder.interrupt();
        },
      };
      const guarded = guard.enter();
      const { killSignal, onMounts } = guarded;
      const { onOutput } = options;
      const shown: typeof options = {
        ...options,
        ...(onOutput && { onOutput: (...args) => guarded.canShowOutput() && onOutput(...args) }),
      };
      let result: ExecResult | undefined;
      try {
        if (isEarly) await new Promise((resolve) => setTimeout(resolve, startMs));
        const start: typeof outside = (...args) => {
          const started = outside(...args);
          sweepAtExit(exitSweep);
          return started;
        };
        result = await sandbox.exec(command, { ...shown, killSignal, onMounts, isAlone, group: since }, start);
      } finally {
        // A process that was killed may take a moment to exit.
        if (result === undefined || result.stopped) await new Promise((resolve) => setTimeout(resolve, 50));
        forgetExitSweep(exitSweep);
        const explain = guarded.leave();
        if (result) result = explain(result);
        finish(running > 1 ? 'a command' : 'this command');
        if (result && notices.length > 0) {
          result = { ...result, text: [result.text.trimEnd(), ...new Set(notices)].join('\n') };
          notices = [];
        }
      }
      return result;
    },
  };
  // Before its first pause, a command looks for repositories several times.
  return { ...confined, exec: (...args) => withOneScan(() => confined.exec(...args)) };
}

/** Returns the protected paths that a command with this access may change. */
const approvedPaths = ({ roots, home }: SandboxPaths, access: SandboxAccess): readonly string[] =>
  roots.flatMap((root) => protectedPaths(root, home).filter((at) => isApproved(at, root, access)));

const noPlaceholders: HeldPlaceholders = { locations: [], restore: () => {}, release: () => {} };

function changeTime(location: string): number {
  return Number(lstatIfVisible(location)?.ctimeMs ?? 0);
}

function assertCountableFolders(roots: readonly string[]): void {
  const root = roots.find(hasUncheckedFolders);
  if (root === undefined) return;
  throw new FairleadError(
    'sandbox/stopped',
    `Commands are stopped: there are more than ${maxCheckedFolders} folders directly in ${escapeInvisibleLine(root)}, or more than ${maxCheckedRepositories} repositories, and each of them is checked after a command. Move or remove some, then commands run again.`,
    { blame: 'user' },
  );
}

type QuarantineNotices = { readonly notice: string; readonly userNotice?: string };

/** Nothing is deleted: the user may have created it at the same moment. */
function quarantinePath(created: UnprotectedPath, trash: string | undefined, origin: string): QuarantineNotices {
  const name = escapeInvisibleLine(created.location);
  const movedTo = moveAside(created, trash);
  if (movedTo === undefined)
    return {
      notice: `[${name} was created by ${origin} and could not be moved away. Other programs run or load it, so commands are stopped until the user removes it.]`,
    };
  const keptAs = escapeInvisibleLine(movedTo);
  return {
    notice: `[${name} was created by ${origin} and was moved away: other programs run or load it, so only the user may create it, with write_file and an approval. It is kept as ${keptAs}.]`,
    userNotice: `${name} appeared while ${origin} was running and was moved to ${keptAs}, because other programs run or load it. If it is yours, move it back.`,
  };
}
