// Quarantines auto-executed files that a sandboxed command creates where nothing existed before. They are moved away when the command ends.
import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine, type ExecResult } from '../../core/index.ts';
import type { SandboxPaths, Sandbox } from './sandbox.ts';
import { protectedPaths } from './mounts.ts';

/** A path that no mount can protect because it does not exist or is a link, with the link target before the command. */
type UnprotectedPath = { readonly location: string; readonly linkTarget: string | undefined };

/** Checks the unprotected paths after a command, and moves away what it created there. Returns messages about what was moved. */
type QuarantineSweep = () => readonly string[];

/** Wraps a sandbox: its commands leave no such files behind. */
export const withQuarantine = (sandbox: Sandbox, paths: SandboxPaths): Sandbox => ({
  ...sandbox,
  async exec(command, options, outside) {
    const sweep = prepareSweep(paths);
    const running = sandbox.exec(command, options, outside);
    sweepAtExit(sweep);
    let result: ExecResult | undefined;
    try {
      result = await running;
    } finally {
      // A process that was killed may take a moment to exit.
      if (result === undefined || result.stopped) await new Promise((resolve) => setTimeout(resolve, 50));
      pendingSweeps.delete(sweep);
      const notices = sweep();
      if (result && notices.length > 0) result = { ...result, text: [result.text.trimEnd(), ...notices].join('\n') };
    }
    return result;
  },
});

/** Sweeps of running commands: they also run when the process exits during a command. */
const pendingSweeps = new Set<QuarantineSweep>();
let hasExitListener = false;

/** Must be called after the command was started: its kill-at-exit listener is then registered first and runs before the sweep. */
function sweepAtExit(sweep: QuarantineSweep): void {
  pendingSweeps.add(sweep);
  if (hasExitListener) return;
  hasExitListener = true;
  process.on('exit', () => pendingSweeps.forEach((each) => each()));
}

function prepareSweep({ roots, home, quarantine }: SandboxPaths): QuarantineSweep {
  const unprotected = roots.flatMap((root) => protectedPaths(root, home)).flatMap(unprotectedPathsAt);
  return () => unprotected.filter(wasCreated).map((unprotectedPath) => quarantinePath(unprotectedPath, quarantine));
}

function unprotectedPathsAt(at: string): readonly UnprotectedPath[] {
  const found = lstatSync(at, { throwIfNoEntry: false });
  if (found && !found.isSymbolicLink()) return [];
  return [{ location: at, linkTarget: found && readlinkSync(at) }];
}

function wasCreated({ location, linkTarget }: UnprotectedPath): boolean {
  const found = lstatSync(location, { throwIfNoEntry: false });
  return found !== undefined && !(found.isSymbolicLink() && readlinkSync(location) === linkTarget);
}

/** Nothing is deleted: the user may have created it at the same moment. */
function quarantinePath({ location, linkTarget }: UnprotectedPath, trash: string | undefined): string {
  const name = escapeInvisibleLine(location);
  const movedTo = moveAside(location, trash);
  if (movedTo === undefined)
    return `[${name} was created by this command and could not be moved away. Other programs run or load it: check it first.]`;
  if (linkTarget !== undefined) symlinkSync(linkTarget, location);
  return `[${name} was created by this command and was moved away: other programs run or load it, so only the user may create it. It is kept as ${escapeInvisibleLine(movedTo)}.]`;
}

/** Moves it next to its path, under a name that no program loads, if there is no quarantine folder or it is on another file system. */
function moveAside(at: string, trash: string | undefined): string | undefined {
  const name = `taken-${path.basename(at).replace(/^\.+/, '')}-${randomUUID().slice(0, 8)}`;
  for (const folder of [...(trash === undefined ? [] : [trash]), path.dirname(at)]) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      renameSync(at, path.join(folder, name));
      return path.join(folder, name);
    } catch {
      // The next location is tried.
    }
  }
  return undefined;
}
