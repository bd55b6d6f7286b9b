// What a confined command must not leave behind: what other programs run or obey unasked, at places where nothing was before it. It is taken away when the command ends.
import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { escapeInvisibleLine, type ExecResult } from '../../core/index.ts';
import type { SandboxPaths, Sandbox } from './sandbox.ts';
import { protectedPaths } from './mounts.ts';

/** A place that no mount can hold, because nothing is there or a link, and the link that was there before. */
type UnprotectedPath = { readonly location: string; readonly linkTarget: string | undefined };

/** Looks again at the open places of a command, and takes away what it made there; says what it took. */
type QuarantineSweep = () => readonly string[];

/** The same sandbox, whose commands leave nothing of the kind behind. */
export const withQuarantine = (sandbox: Sandbox, confines: SandboxPaths): Sandbox => ({
  ...sandbox,
  async exec(command, options, outside) {
    const sweep = prepareSweep(confines);
    const running = sandbox.exec(command, options, outside);
    sweepAtExit(sweep);
    let ran: ExecResult | undefined;
    try {
      ran = await running;
    } finally {
      // What was ended by force may take a moment to be gone.
      if (ran === undefined || ran.stopped) await new Promise((resolve) => setTimeout(resolve, 50));
      pendingSweeps.delete(sweep);
      const said = sweep();
      if (ran && said.length > 0) ran = { ...ran, text: [ran.text.trimEnd(), ...said].join('\n') };
    }
    return ran;
  },
});

/** Sweeps of commands that are running: a program that is left in the middle of one sweeps as well. */
const pendingSweeps = new Set<QuarantineSweep>();
let hasExitListener = false;

/** To be called when the command has been started: whoever started it has then asked to end it at our exit, before we look. */
function sweepAtExit(sweep: QuarantineSweep): void {
  pendingSweeps.add(sweep);
  if (hasExitListener) return;
  hasExitListener = true;
  process.on('exit', () => pendingSweeps.forEach((each) => each()));
}

function prepareSweep({ roots, home, quarantine }: SandboxPaths): QuarantineSweep {
  const open = roots.flatMap((root) => protectedPaths(root, home)).flatMap(unprotectedPathsAt);
  return () => open.filter(wasCreated).map((place) => quarantinePath(place, quarantine));
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

/** Nothing is deleted: it may be what a person made in the same moment. */
function quarantinePath({ location, linkTarget }: UnprotectedPath, trash: string | undefined): string {
  const name = escapeInvisibleLine(location);
  const kept = moveAside(location, trash);
  if (kept === undefined)
    return `[${name} was made by this command and could not be taken away. Other programs run or obey what lies there: look at it first.]`;
  if (linkTarget !== undefined) symlinkSync(linkTarget, location);
  return `[${name} was made by this command and is not there any more: other programs run or obey what lies there, so only a person may make it. It is kept as ${escapeInvisibleLine(kept)}.]`;
}

/** Beside its place where there is no trash, or that is on another disk: under a name that nothing obeys. */
function moveAside(at: string, trash: string | undefined): string | undefined {
  const name = `taken-${path.basename(at).replace(/^\.+/, '')}-${randomUUID().slice(0, 8)}`;
  for (const folder of [...(trash === undefined ? [] : [trash]), path.dirname(at)]) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      renameSync(at, path.join(folder, name));
      return path.join(folder, name);
    } catch {
      // The next place is tried.
    }
  }
  return undefined;
}
